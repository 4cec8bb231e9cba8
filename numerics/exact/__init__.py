"""Number systems: rationals, cyclotomic fields, balls, and exact linear algebra over them."""
