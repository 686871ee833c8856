"""The bench in a notebook: magics, their completion, what they show."""
