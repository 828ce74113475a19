"""What a person configures."""
