"""Language adapters: what a symbol is, what refers to it, and how tests are taken apart."""
