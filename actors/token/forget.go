package token

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"atelier/actors/durable"
	"atelier/actors/token/seal"
	pb "atelier/actors/token/tokenpb"
)

// forgetRows is the maximum number of rows that Forget removes in one append.
const forgetRows = 1000

// Count counts the token records in a store's stream, in both environments, including records of
// ended tokens. It needs no key, because it does not verify the records.
func Count(journal durable.Journal, stream string) (n int, err error) {
	var t pb.Token
	err = eachRow(journal, stream, func(_ string, _, value []byte) {
		body, ok := (*seal.Ring)(nil).Body(value)
		if t.Reset(); !ok || t.Decode(body) != nil || t.Participant != "" { // the placeholder has no participant
			n++
		}
	})
	return n, err
}

// Forget removes all token records from a stream. It is for streams whose keys were lost, because
// their tokens can no longer be used. Stored answers expire with their tokens.
func Forget(journal durable.Journal, stream string) error {
	var rows []durable.Row
	err := eachRow(journal, stream, func(table string, key, _ []byte) {
		rows = append(rows, durable.Row{Table: table, Key: slices.Clone(key), Delete: true})
	})
	if err != nil {
		return err
	}
	for batch := range slices.Chunk(rows, forgetRows) {
		if err := durable.Commit(journal, batch); err != nil {
			return fmt.Errorf("forget tokens: %w", err)
		}
	}
	return nil
}

func eachRow(journal durable.Journal, stream string, visit func(table string, key, value []byte)) error {
	sum := sha256.Sum256([]byte(stream))
	for _, env := range []seal.Environment{seal.Production, seal.Sandbox} {
		table := tablesOf(env).tokens
		err := journal.Scan(durable.Scan{Table: table, Prefix: sum[:streamTagBytes]}, func(key, value []byte) bool {
			visit(table, key, value)
			return true
		})
		if err != nil {
			return fmt.Errorf("read the tokens: %w", err)
		}
	}
	return nil
}
