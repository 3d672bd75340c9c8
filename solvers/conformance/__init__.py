"""The kit that every method passes, one file per problem."""
