// Package registry contains what four actors have in common: those of people, of participants, of
// the settings with their API tokens, and of webhooks. It defines how a command carries its caller
// (Command), and adds the audit records of a decision to the decision's own commit. Each actor
// supplies only its State, which contains its data and the rules by which it decides.
package registry
