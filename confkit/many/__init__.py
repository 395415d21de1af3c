"""Many reads at once, and what a sweep of all rooms makes of them."""
