package codelab

import (
	"cmp"
	"crypto/sha256"
	"slices"

	"golang.org/x/text/unicode/norm"

	pb "atelier/actors/codelab/codelabpb"
	"atelier/actors/naming"
)

// tally counts words. Words with the same key are equal; the most frequent spelling is shown. The
// zero value is empty.
type tally struct {
	words map[string]*tallied
	// top contains the most frequent words, at most shownPollWords, best first. It is valid unless
	// stale.
	top   []*tallied `snapshot:"sorted again when it is stale"`
	stale bool       `snapshot:"belongs to top"`
}

type tallied struct {
	key   string
	votes int32
	// spellings are in any order. If there are many, at has the index of each. A long word can have
	// very many spellings.
	spellings []spelling     `snapshot:"any order: the order has no meaning"`
	at        map[string]int `snapshot:"rebuilt from spellings"`
	// best is the most frequent spelling; valid unless stale.
	best  spelling `snapshot:"found again when it is stale"`
	stale bool     `snapshot:"belongs to best"`
}

// manySpellings is the number of spellings above which the map at is used.
const manySpellings = 16

type spelling struct {
	text  string
	votes int32
}

// maxWordKey bounds a normalized word, in bytes. It is needed because NFKC expands a code point to
// up to 18.
const maxWordKey = 256

// wordKey returns the normalized form of a word, or its hash if it is longer than maxWordKey.
func wordKey(word string) string {
	key := naming.Key(norm.NFKC.String(word))
	if len(key) > maxWordKey {
		sum := sha256.Sum256([]byte(key))
		key = string(sum[:])
	}
	return key
}

// add counts a word, or removes it.
func (t *tally) add(word string, by int) {
	key := wordKey(word)
	w := t.words[key]
	if w == nil {
		if t.words == nil {
			t.words = map[string]*tallied{}
		}
		w = &tallied{key: key}
		t.words[key] = w
	}
	w.votes += int32(by)
	w.spell(word, by)
	switch {
	case by < 0:
		if w.votes <= 0 {
			delete(t.words, key)
		}
		// If this word was not in the top, losing a vote does not change the top.
		t.stale = t.stale || slices.Contains(t.top, w)
	case !t.stale:
		t.rise(w)
	}
}

// spell counts a spelling, or removes it.
func (w *tallied) spell(word string, by int) {
	i := w.find(word)
	if i < 0 {
		i = len(w.spellings)
		w.spellings = append(w.spellings, spelling{text: word})
		w.place(i)
	}
	w.spellings[i].votes += int32(by)
	s := w.spellings[i]
	switch {
	case by < 0:
		w.stale = w.stale || s.text == w.best.text
	case !w.stale && (s.text == w.best.text || s.commoner(w.best)):
		w.best = s
	}
	if s.votes <= 0 {
		last := len(w.spellings) - 1
		w.spellings[i] = w.spellings[last]
		w.spellings = w.spellings[:last]
		delete(w.at, s.text)
		if i < last {
			w.place(i)
		}
	}
}

func (w *tallied) find(word string) int {
	if w.at == nil {
		return slices.IndexFunc(w.spellings, func(s spelling) bool { return s.text == word })
	}
	if i, there := w.at[word]; there {
		return i
	}
	return -1
}

// place records the index of a spelling.
func (w *tallied) place(i int) {
	switch {
	case w.at != nil:
		w.at[w.spellings[i].text] = i
	case len(w.spellings) > manySpellings:
		w.at = make(map[string]int, 2*manySpellings)
		for i, s := range w.spellings {
			w.at[s.text] = i
		}
	}
}

// commoner reports whether spelling s is shown instead of o: s has more votes than o, or as many
// and comes first alphabetically. Every node therefore shows the same spelling.
func (s spelling) commoner(o spelling) bool {
	return s.votes > o.votes || s.votes == o.votes && s.text < o.text
}

// commonest returns the spelling to show.
func (w *tallied) commonest() string {
	if w.stale {
		w.best, w.stale = spelling{}, false
		for _, s := range w.spellings {
			if s.commoner(w.best) {
				w.best = s
			}
		}
	}
	return w.best.text
}

// better orders words by votes, then by key, so that the order is the same on every node.
func better(a, b *tallied) int {
	return cmp.Or(cmp.Compare(b.votes, a.votes), cmp.Compare(a.key, b.key))
}

// rise updates top after a word was counted: it moves up, or into the top. As a result, a vote
// reads only the top and not all words.
func (t *tally) rise(w *tallied) {
	i := slices.Index(t.top, w)
	if i < 0 {
		switch {
		case len(t.top) < shownPollWords:
			t.top = append(t.top, w)
		case better(w, t.top[len(t.top)-1]) < 0:
			t.top[len(t.top)-1] = w
		default:
			return
		}
		i = len(t.top) - 1
	}
	for ; i > 0 && better(t.top[i], t.top[i-1]) < 0; i-- {
		t.top[i], t.top[i-1] = t.top[i-1], t.top[i]
	}
}

// best returns the most frequent words, at most shownPollWords and shownPollWordsB bytes.
func (t *tally) best() (out []*pb.PollWord) {
	if t.stale {
		t.top, t.stale = t.top[:0], false
		for _, w := range t.words {
			t.rise(w)
		}
	}
	bytes := 0
	for _, w := range t.top {
		word := w.commonest()
		if bytes += len(word); bytes > shownPollWordsB {
			break
		}
		out = append(out, &pb.PollWord{Word: word, Votes: w.votes})
	}
	return out
}

// newKeys returns the number of words that the tally does not contain yet.
func (t *tally) newKeys(words []string) (n int) {
	for _, w := range words {
		if t.words[wordKey(w)] == nil {
			n++
		}
	}
	return n
}
