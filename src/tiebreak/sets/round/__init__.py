"""Sets with curved boundaries, as the engine for cones sees them: cones, charts, growth, room."""
