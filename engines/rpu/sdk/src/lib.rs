//! penstock-rpu-sdk
