"""What `holdfast run` does: one turn of an agent host after the other, until a person is needed or all is done."""
