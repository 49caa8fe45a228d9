package layout

import (
	"crypto/rand"
	"encoding/hex"
)

// Format is the version of this layout. Heads of format 1 (see Head) are read as
// they are.
const Format = 2

// Keys of what a store says about itself: the version of its layout, in
// decimal digits, and the id of its stream.
var (
	FormatKey = []byte{FamilyMeta, 'f', 'o', 'r', 'm', 'a', 't'}
	StreamKey = []byte{FamilyMeta, 's', 't', 'r', 'e', 'a', 'm'}
)

// NewStreamID returns an id that no stream has: see durable.Store.
func NewStreamID() string {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // never fails
	return hex.EncodeToString(id)
}

// PurgeTable is the table of actors with a purge in progress: a node that finds such a row
// finishes it.
const PurgeTable = "purge"
