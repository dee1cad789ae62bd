//! penstock-rpu
