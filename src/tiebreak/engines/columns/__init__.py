"""Two levels over a polytope with few vertices, solved by column generation."""
