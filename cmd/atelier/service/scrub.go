package service

import (
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/protobuf/proto"

	"atelier/actors/catalog"
	"atelier/actors/codelab"
	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/actors/participant"
	"atelier/actors/settings"
)

// Scrub reads all stored data, and writes a line for each damaged or missing item, and a summary.
// It returns the number of these items. It checks in both directions: the stored objects, and the
// objects to which records refer.
func (c *Core) Scrub(w io.Writer) (damaged int, err error) {
	bad := func(what string) {
		damaged++
		_, _ = fmt.Fprintln(w, "damaged:", what)
	}
	if err := c.store.Scrub(bad); err != nil {
		return damaged, err
	}
	logs, err := c.scrubLogs(bad)
	if err != nil {
		return damaged, err
	}
	contents, err := c.blobs.Scrub(bad)
	if err != nil {
		return damaged, err
	}
	register := files.NewRegister(c.store, c.blobs, 0, time.Now)
	if err := register.Missing(func(sum files.Sum) { bad("blob " + sum.String() + " is missing") }); err != nil {
		return damaged, err
	}
	known, err := c.knownCode()
	if err != nil {
		return damaged, err
	}
	code, err := c.code.Scrub(known, bad)
	if err != nil {
		return damaged, err
	}
	_, err = fmt.Fprintf(w, "looked at the store, %d logs, %d contents of files, %d files and objects of %d workspaces: %d damaged\n",
		logs, contents, code, len(known), damaged)
	return damaged, err
}

// scrubLogs replays every log, and compares the codelabs' logs with the list of codelabs. It
// returns the number of logs read.
func (c *Core) scrubLogs(bad func(what string)) (looked int, err error) {
	ids := map[string]bool{}
	err = c.store.Actors("codelab/", func(name string) bool {
		ids[name[len("codelab/"):]] = true
		return true
	})
	if err == nil {
		err = c.store.Scan(durable.Scan{Table: catalog.ListTable}, func(key, _ []byte) bool {
			ids[string(key)] = true
			return true
		})
	}
	if err != nil {
		return 0, err
	}
	for id := range ids {
		looked++
		if err := c.scrubCodelab(id, bad); err != nil {
			return looked, err
		}
	}
	set, who := settings.Kind(nil), participant.Kind(nil)
	_, _, err = set.Read(c.store, settings.ID)
	if err = unread("of the settings", err, bad); err != nil {
		return looked, err
	}
	_, _, err = who.Read(c.store, participant.ID)
	return looked + 2, unread("of the participants", err, bad)
}

// unread reports a log that cannot be read. For a temporary failure it returns an error.
func unread(whose string, err error, bad func(what string)) error {
	if errors.Is(err, durable.ErrCorrupt) {
		bad(fmt.Sprintf("the log %s: %v", whose, err))
		return nil
	}
	return err
}

// scrubTries is the number of attempts to read a codelab that changes meanwhile.
const scrubTries = 5

func (c *Core) scrubCodelab(id string, bad func(what string)) error {
	kind := codelab.Kind(codelab.Rules{})
	for range scrubTries {
		before, err := catalog.Listed(c.store, id)
		if err != nil {
			return unread("of codelab "+id, err, bad)
		}
		view, seq, err := kind.Read(c.store, id)
		if err != nil {
			return unread("of codelab "+id, err, bad)
		}
		listed, err := catalog.Listed(c.store, id)
		if err != nil {
			return unread("of codelab "+id, err, bad)
		}
		if !proto.Equal(before, listed) {
			continue // a server is changing it
		}
		switch {
		case listed == nil && view.Meta != nil:
			bad("codelab " + id + " has a log, but is not in the list")
		case listed != nil && seq == 0:
			bad("codelab " + id + " is in the list, but has no log")
		case listed != nil && !proto.Equal(listed, view.Meta):
			bad("codelab " + id + " differs between the list and its log")
		}
		return nil
	}
	return nil
}
