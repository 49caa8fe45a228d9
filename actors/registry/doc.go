// Package registry is the common part of the actors that keep a short list of records: people,
// participants, the settings with their API tokens, and webhooks. It has the form of their
// commands, and writes each decision to the audit trail in the decision's own commit. What an actor
// stores and decides is its State.
package registry
