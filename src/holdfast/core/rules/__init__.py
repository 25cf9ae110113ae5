"""The rules, by what they are about. Only `holdfast.core.decide` calls them."""
