package auth

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"atelier/actors/durable"
	"atelier/transport/httpapi"
)

// Parameters of Argon2id, as recommended by OWASP's cheat sheet.
const (
	memoryKiB = 19 << 10
	passes    = 2
	lanes     = 1
	saltBytes = 16
	hashBytes = 32

	prefix = "$argon2id$v=19$m=19456,t=2,p=1$"
)

// Bounds of a password, in code points.
const (
	MinPassword = 12
	MaxPassword = 256
)

// commonest contains the passwords of at least MinPassword characters among the 10,000 commonest in
// two lists (SecLists and zxcvbn), and similar passwords.
var commonest = strings.Fields(`
	123qweasdzxc 1qaz2wsx3edc q1w2e3r4t5y6 1q2w3e4r5t6y mailcreated5240 qazwsxedcrfv
	123456qwerty qwerty123456 polniypizdec0211 sojdlg123aljg leavemealone motherfucker
	123456654321 gfhjkmgfhjkm qazwsxedc123 ghjcnjgfhjkm zxcasdqwe123 sonyericsson
	ghhh47hj7649 123456789qwe 1qazxsw23edc masterbating qwerasdfzxcv qweasdzxc123
	flvbybcnhfnjh 123456789012 1234567890123 123456789123 passwordpassword password1234
	password12345 password123456 qwertyuiop12 qwertyuiop123 qwertyqwerty 111111111111
	000000000000 123123123123 abcdefghijkl administrator administrator1 iloveyou1234
	letmeinletmein welcome12345 changemechangeme adminadminadmin
	123456789987654321 112233445566 finalfantasy ghbdtnrfrltkf websolutions
	chickenwing101 1qaz2wsx3edc4rfv justinbieber contortionist masturbation pornographic
	newproject2004 needforspeed businessbabe masterbaiting maurolarastefy domainlock2005
	momsanaladventure dkflbvbhjdbx hd764nw5d7e1vb1 qazwsxedcrfvtgb dkflbvbhjdyf
	counterstrike zaq1xsw2cde3 vfvfvskfhfve ghjcnjghjcnj fkmnthyfnbdf 123456789abc
	admin18533362 23176djivanfros 123456789qwerty`)

// CheckPassword validates a new password for a login. field is the name in errors.
func CheckPassword(field, password, login string) error {
	n := utf8.RuneCountInString(password)
	folded := strings.ToLower(password)
	switch {
	case !utf8.ValidString(password) || n < MinPassword || n > MaxPassword:
		return durable.Reject(durable.Invalid, "%s must have %d to %d characters", field, MinPassword, MaxPassword)
	case utf8.RuneCountInString(strings.TrimSpace(password)) < MinPassword:
		return durable.Reject(durable.Invalid, "%s must have at least %d characters without the spaces at its ends", field, MinPassword)
	case login != "" && folded == strings.ToLower(login):
		return durable.Reject(durable.Invalid, "%s must not be the login", field)
	}
	for _, c := range commonest {
		if folded == c {
			return durable.Reject(durable.Invalid, "%s is one of the commonest passwords; choose another", field)
		}
	}
	return nil
}

// ErrBusy means that too many passwords are being hashed.
var ErrBusy = httpapi.Refusal(http.StatusServiceUnavailable, "too many people are signing in at this moment; try again", 2*time.Second)

// waiting bounds the callers that wait in each queue.
const waiting = 64

// PasswordComputer hashes and compares people's passwords. Each operation takes 19 MiB and a tenth
// of a second of CPU time, so at most two per CPU run concurrently. Half of them are reserved for
// browsers in which somebody has signed in before, so that a flood from unknown browsers does not
// lock these out. PasswordComputer is safe for concurrent use.
type PasswordComputer struct {
	known, strangers queue
	// nobody is a hash for logins without a password, so that their comparison takes the same time.
	nobody   string
	computed atomic.Int64
}

// queue bounds concurrent operations and the callers that wait.
type queue struct {
	places chan struct{}
	queued atomic.Int32
}

// NewPasswordComputer returns a PasswordComputer.
func NewPasswordComputer() *PasswordComputer {
	n := runtime.GOMAXPROCS(0)
	c := &PasswordComputer{known: queue{places: make(chan struct{}, n)}, strangers: queue{places: make(chan struct{}, n)}}
	c.nobody = prefix + encode(make([]byte, saltBytes)) + "$" + encode(make([]byte, hashBytes))
	return c
}

// Computed returns the number of computed hashes.
func (c *PasswordComputer) Computed() int64 { return c.computed.Load() }

// Hash returns the hash of a password. known means that somebody has signed in before in this
// browser. Hash returns ErrBusy if too many callers wait.
func (c *PasswordComputer) Hash(password string, known bool) (string, error) {
	salt := make([]byte, saltBytes)
	_, _ = rand.Read(salt) // never fails
	sum, err := c.compute(password, salt, known)
	if err != nil {
		return "", err
	}
	return prefix + encode(salt) + "$" + encode(sum), nil
}

// Matches reports whether a password matches a hash. The hash "" matches nothing, but takes as
// long. Matches returns ErrBusy if too many callers wait, and durable.ErrCorrupt if the hash has
// another form.
func (c *PasswordComputer) Matches(password, hash string, known bool) (bool, error) {
	was := hash
	if was == "" {
		was = c.nobody
	}
	rest, ok := strings.CutPrefix(was, prefix)
	salted, hashed, two := strings.Cut(rest, "$")
	salt, err := base64.RawStdEncoding.DecodeString(salted)
	want, err2 := base64.RawStdEncoding.DecodeString(hashed)
	if !ok || !two || err != nil || err2 != nil || len(want) != hashBytes {
		return false, fmt.Errorf("stored password: %w", durable.ErrCorrupt)
	}
	sum, err := c.compute(password, salt, known)
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(sum, want) == 1 && hash != "", nil
}

func (c *PasswordComputer) compute(password string, salt []byte, known bool) ([]byte, error) {
	q := &c.strangers
	if known {
		q = &c.known
	}
	if q.queued.Add(1) > waiting {
		q.queued.Add(-1)
		return nil, ErrBusy
	}
	q.places <- struct{}{}
	q.queued.Add(-1)
	defer func() { <-q.places }()
	c.computed.Add(1)
	return argon2.IDKey([]byte(password), salt, passes, memoryKiB, lanes, hashBytes), nil
}

func encode(b []byte) string { return base64.RawStdEncoding.EncodeToString(b) }
