// Package naming says what a person's name is: what of it is kept, and what
// makes two names the same. Names are told apart by people who see them, so
// what cannot be seen tells nothing.
package naming
