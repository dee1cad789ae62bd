//! penstock-shell
