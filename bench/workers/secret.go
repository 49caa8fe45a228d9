package workers

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"net"
	"sync"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/scrypt"
)

// shortest is the minimum length of a secret, in characters.
const shortest = 16

// CheckSecret rejects a secret that is short enough to be guessed.
func CheckSecret(secret string) error {
	if utf8.RuneCountInString(secret) < shortest {
		return fmt.Errorf("the secret of the workers is too short: want at least %d characters", shortest)
	}
	return nil
}

// errStranger means that the other side has not proved that it has the secret.
var errStranger = errors.New("the other side has not proved that it has the secret")

// proveWithin is the timeout of the handshake together with the proofs.
const proveWithin = 10 * time.Second

// ephemeral generates a certificate for this process.
func ephemeral() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make key: %w", err)
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(1, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// prove exchanges proofs of the secret with the other side, within proveWithin. The proofs of the
// two sides contain different words, so that a proof cannot be sent back to its author.
func prove(conn *tls.Conn, secret, mine, theirs string) error {
	if err := conn.SetDeadline(time.Now().Add(proveWithin)); err != nil {
		return fmt.Errorf("bound handshake: %w", err)
	}
	if err := conn.Handshake(); err != nil {
		return fmt.Errorf("handshake: %w", err)
	}
	state := conn.ConnectionState()
	binding, err := state.ExportKeyingMaterial("EXPORTER-Channel-Binding", nil, 32)
	if err != nil {
		return fmt.Errorf("bind to connection: %w", err)
	}
	key, err := stretched(secret)
	if err != nil {
		return err
	}
	proof := func(who string) []byte {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte("atelier-bench " + who))
		mac.Write(binding)
		return mac.Sum(nil)
	}
	l := line{conn: conn}
	// The coordinator proves last, because it connects to an address that a person typed, and has
	// the server's passwords. Any caller of a worker therefore receives the worker's proof, with
	// which the caller can test guesses of the secret. Each guess costs the caller a tenth of a
	// second.
	ask := func() error { return l.send(proof(mine)) }
	check := func() error {
		var got []byte
		if err := l.receive(&got, 1<<10); err != nil {
			return fmt.Errorf("%w: %w", errStranger, err)
		}
		if !hmac.Equal(got, proof(theirs)) {
			return errStranger
		}
		return nil
	}
	first, second := check, ask
	if mine == roleWorker {
		first, second = ask, check
	}
	if err := first(); err != nil {
		return err
	}
	if err := second(); err != nil {
		return err
	}
	return conn.SetDeadline(time.Time{})
}

// stretched derives the key from a secret, with enough work to make guessing slow.
func stretched(secret string) ([]byte, error) {
	keys.Lock()
	defer keys.Unlock()
	if key := keys.of[secret]; key != nil {
		return key, nil
	}
	key, err := scrypt.Key([]byte(secret), []byte("atelier-bench"), 1<<15, 8, 1, sha256.Size)
	if err != nil {
		return nil, fmt.Errorf("stretch the secret: %w", err)
	}
	keys.of[secret] = key
	return key, nil
}

// keys caches the derived keys of this process. A process has one secret; tests have several.
var keys = struct {
	sync.Mutex
	of map[string][]byte
}{of: map[string][]byte{}}

const (
	roleCoordinator = "coordinator"
	roleWorker      = "worker"
)

// reach connects to a listening worker, and proves that it has the secret.
func reach(address, secret string) (net.Conn, error) {
	raw, err := net.DialTimeout("tcp", address, proveWithin)
	if err != nil {
		return nil, fmt.Errorf("reach worker: %w", err)
	}
	// The certificate is not verified. Only the proof below counts.
	conn := tls.Client(raw, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13})
	if err := prove(conn, secret, roleCoordinator, roleWorker); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("worker %s: %w", address, err)
	}
	return conn, nil
}
