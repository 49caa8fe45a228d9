package layout

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
)

// Format is the version of this layout. FirstFormat is the version of the first release. Earlier
// formats are not supported.
const Format, FirstFormat = 2, 2

// Unreleased returns the error for a format that no release wrote.
func Unreleased(format int) error {
	return fmt.Errorf("the data has format %d, which no release wrote; this program reads formats from %d", format, FirstFormat)
}

// Keys of a store's metadata: the version of its layout, in decimal digits, and the id of its
// stream.
var (
	FormatKey = []byte{FamilyMeta, 'f', 'o', 'r', 'm', 'a', 't'}
	StreamKey = []byte{FamilyMeta, 's', 't', 'r', 'e', 'a', 'm'}
)

// NewStreamID returns a new id of a stream: see durable.Store.
func NewStreamID() string {
	id := make([]byte, 16)
	_, _ = rand.Read(id) // rand.Read never fails
	return hex.EncodeToString(id)
}

// PurgeTable is the table of actors with a purge in progress. A node that finds a row of this table
// finishes the purge.
const PurgeTable = "purge"
