package service

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"atelier/actors/catalog"
	"atelier/actors/codelab"
	"atelier/actors/durable"
	"atelier/actors/files"
	"atelier/actors/participant"
	"atelier/actors/people"
	"atelier/actors/settings"
	"atelier/actors/webhook"
)

// Scrub reads all stored data, and writes a line for each damaged or missing item, and a summary.
// It returns the number of these items. It verifies that the stored objects are intact, and that
// every object to which a record refers exists.
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
	_, err = fmt.Fprintf(w, "checked the store, %d logs, %d contents of files, %d files and objects of %d workspaces: %d damaged or missing\n",
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
	for _, kind := range []func() (int, error){
		func() (int, error) { return scrubKind(c.store, settings.Kind(nil), "of the settings", bad) },
		func() (int, error) { return scrubKind(c.store, participant.Kind(nil), "of the participants", bad) },
		func() (int, error) { return scrubKind(c.store, people.Kind(nil, ""), "of the people", bad) },
		func() (int, error) { return scrubKind(c.store, webhook.Kind(nil), "of webhook ID", bad) },
	} {
		n, err := kind()
		if looked += n; err != nil {
			return looked, err
		}
	}
	return looked, nil
}

// scrubKind replays all logs of a kind of actors, and returns their number. whose describes a log,
// with ID for the id of its actor.
func scrubKind[C, E, V any](store durable.Store, kind durable.Kind[C, E, V], whose string, bad func(what string)) (looked int, err error) {
	var ids []string
	err = store.Actors(kind.Name+"/", func(name string) bool {
		ids = append(ids, strings.TrimPrefix(name, kind.Name+"/"))
		return true
	})
	for _, id := range ids {
		if err == nil {
			_, _, err = kind.Read(store, id)
			err = unread(strings.Replace(whose, "ID", id, 1), err, bad)
		}
	}
	return len(ids), err
}

// unread reports a damaged log with bad, and returns any other error.
func unread(whose string, err error, bad func(what string)) error {
	if errors.Is(err, durable.ErrCorrupt) {
		bad(fmt.Sprintf("the log %s: %v", whose, err))
		return nil
	}
	return err
}

// scrubTries is the number of attempts to read a codelab that changes meanwhile. A codelab that
// still changes afterwards is left out.
const scrubTries = 5

func (c *Core) scrubCodelab(id string, bad func(what string)) error {
	kind := codelab.Kind(codelab.Rules{})
	for range scrubTries {
		before, err := catalog.Listed(c.store, id)
		if err != nil {
			return unread("or list entry of codelab "+id, err, bad)
		}
		view, seq, err := kind.Read(c.store, id)
		if err != nil {
			return unread("of codelab "+id, err, bad)
		}
		listed, err := catalog.Listed(c.store, id)
		if err != nil {
			return unread("or list entry of codelab "+id, err, bad)
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
