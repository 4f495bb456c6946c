"""``honchod demo``: the whole way of a conversation, with the plug pulled once."""
