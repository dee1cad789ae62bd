//! penstock-device
