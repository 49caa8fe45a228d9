// Package settings is the actor of what belongs to the whole installation: the
// API tokens of admins, and the AI key with what it was used for about no
// codelab.
package settings
