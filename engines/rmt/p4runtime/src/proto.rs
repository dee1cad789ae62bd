// Copyright 2026 The Penstock Authors. SPDX-License-Identifier: Apache-2.0
//! Messages and service of P4Runtime, written by generate/generate.py. Their meaning is in the P4Runtime specification.

#![allow(missing_docs, clippy::all)]

/// google.rpc.
pub mod google {
    pub mod rpc {
        include!("proto/google.rpc.rs");
    }
}

/// p4.
pub mod p4 {
    pub mod v1 {
        include!("proto/p4.v1.rs");
    }
    pub mod config {
        pub mod v1 {
            include!("proto/p4.config.v1.rs");
        }
    }
}
