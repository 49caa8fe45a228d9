// Package describe finds the schemas a payload says it follows: the
// capabilities of its ucp member, each a base or an extension of others.
package describe
