"""Where jobs run: the contract, and one room per place."""
