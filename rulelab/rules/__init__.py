"""How a rule is stated, found and dated."""
