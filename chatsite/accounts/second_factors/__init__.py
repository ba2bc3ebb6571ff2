"""What people have beside their password: apps, codes, passkeys."""
