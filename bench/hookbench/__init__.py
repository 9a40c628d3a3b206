"""What a hook costs. `bench/cost` measures time and memory, `bench/count` instructions, `bench/order` the layout."""
