package powercut

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"atelier/persistence/powercut"
)

// load is a client that makes every kind of change that the server acknowledges. It records each
// change in the trace of the server's disk.
type load struct {
	*server
	disk *powercut.Disk
	rand *rand.Rand
	// made counts the items. Its value is part of each new item's name.
	made  int
	items []item // items that exist
	coded map[string]bool
	in    string // the codelab to add to; "" for any
	// platform and business are API keys. identity is the identity of the business.
	platform, business, identity string

	acknowledged map[string]int // by operation and kind
	refused      []string       // operations that were not acknowledged, and why
}

func newLoad(disk *powercut.Disk, seed uint64) *load {
	return &load{disk: disk, rand: rand.New(rand.NewPCG(seed, 1)), coded: map[string]bool{}, acknowledged: map[string]int{}}
}

// run makes a number of steps. Refusals by the server are counted, but not recorded in the trace.
func (l *load) run(steps int) {
	for range steps {
		select {
		case <-l.over:
			return // a fault has ended the server
		default:
		}
		switch r := l.rand.IntN(10); {
		case r < 3 && len(l.items) > 8:
			if i := l.rand.IntN(len(l.items)); l.items[i].Kind != "codelab" || l.rand.IntN(4) == 0 {
				l.remove(i)
			}
		default:
			l.add(kindsOfItems[l.rand.IntN(len(kindsOfItems))])
		}
	}
}

// each adds one item of each kind, in an order in which later items have what they need, and
// removes a codelab.
func (l *load) each() {
	for _, k := range kindsOfItems {
		if l.add(k); k.name == "participant" {
			l.add(k)
		}
	}
	// The codelab is removed together with its code.
	i := len(l.items)
	if l.add(kindOf(codelabItem(""))); len(l.items) > i {
		l.in = l.items[i].Key
		l.add(kindOf(item{Kind: "code"}))
		l.in = ""
		l.remove(i)
	}
}

func (l *load) add(k kind) {
	l.made++
	it := item{Kind: k.name, Codelab: l.codelab(), Key: fmt.Sprintf("k%04d", l.made)}
	if it.Codelab == "" && k.name != "codelab" || k.name == "token" && l.business == "" || k.name == "participant" && l.business != "" {
		return
	}
	if k.name == "steps" { // a codelab has one list of steps
		for i, old := range l.items {
			if old.Kind == it.Kind && old.Codelab == it.Codelab {
				l.note(removing, old)
				l.items = slices.Delete(l.items, i, i+1)
				defer func() {
					if len(l.items) > 0 && l.items[len(l.items)-1].Key == it.Key {
						l.note(removed, old)
					}
				}()
				break
			}
		}
	}
	if err := k.add(l, &it); err != nil {
		l.refuse(it, err)
		return
	}
	l.note(added, it)
	l.items = append(l.items, it)
}

func (l *load) remove(i int) {
	it := l.items[i]
	k := kindOf(it)
	if k.remove == nil {
		return
	}
	l.note(removing, it)
	// From here on the item can be gone or present, until the server acknowledges the removal.
	l.items = slices.Delete(l.items, i, i+1)
	if it.Kind == "codelab" {
		l.items = slices.DeleteFunc(l.items, func(in item) bool { return in.Codelab == it.Key })
	}
	if err := k.remove(l.server, it); err != nil {
		l.refuse(it, err)
		return
	}
	l.note(removed, it)
}

// codelab returns the id of an existing codelab, or "" without codelabs.
func (l *load) codelab() string {
	if l.in != "" {
		return l.in
	}
	var all []string
	for _, it := range l.items {
		if it.Kind == "codelab" {
			all = append(all, it.Key)
		}
	}
	if len(all) == 0 {
		return ""
	}
	return all[l.rand.IntN(len(all))]
}

func (l *load) note(did string, it item) {
	l.acknowledged[did+" "+it.Kind]++
	l.disk.Note(step{did, it}.encode())
}

func (l *load) refuse(it item, err error) { l.refused = append(l.refused, it.name()+": "+err.Error()) }
