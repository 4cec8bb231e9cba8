"""Character tables of finite groups, exactly."""
