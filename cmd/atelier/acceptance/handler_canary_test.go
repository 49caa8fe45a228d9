package acceptance

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"atelier/transport/control"
)

// The whole suite also tests that secrets do not leak. All its cards have the same number and the
// same name, and it records every token, key and access token that it receives. After all tests, the
// log of its servers and all data of the common server are searched for these secrets.

// cardNumber and cardName are on every card of the suite.
const (
	cardNumber = "4242424242424242"
	cardName   = "Canary Cardholder"
)

// suiteLog is the log of every server that the suite starts in this process.
var suiteLog logged

// returnedSecrets contains the secrets that servers returned. It is safe for concurrent use.
var returnedSecrets secretSet

type secretSet struct {
	mu  sync.Mutex
	all map[string]bool
}

func (s *secretSet) add(secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]bool{}
	}
	if secret != "" {
		s.all[secret] = true
	}
}

// markers returns the card's number and name, the member name of the security code, and of each
// secret the random part as text and as bytes.
func (s *secretSet) markers() map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]bool{cardNumber: true, cardName: true, `"cvc"`: true}
	for secret := range s.all {
		out[secret] = true
		// The random part, as text and as bytes.
		if i := strings.LastIndexByte(secret, '_'); strings.HasPrefix(secret, "ak_") && i > 0 {
			secret = secret[len(secret)-43:]
		} else if strings.HasPrefix(secret, "tok_") {
			secret = secret[len("tok_live_"):]
		}
		out[secret] = true
		if raw, err := base64.RawURLEncoding.DecodeString(secret); err == nil && len(raw) == 32 {
			out[string(raw)] = true
		}
	}
	return out
}

// searchTheSuite searches for the markers, which must not appear anywhere. The common server is
// still running.
func searchTheSuite() error {
	markers := returnedSecrets.markers()
	var errs []error
	search := func(where string, content []byte) {
		for m := range markers {
			if bytes.Contains(content, []byte(m)) {
				errs = append(errs, fmt.Errorf("%s contains a secret of %d bytes", where, len(m)))
			}
		}
	}
	search("the log", []byte(suiteLog.String()))
	if common.s == nil {
		return errors.Join(errs...)
	}
	whole := flag.Lookup("test.run").Value.String() == "" // a partial run can omit the tests that use tokens
	if n := len(returnedSecrets.all); n < 20 && whole {
		return errors.Join(append(errs, fmt.Errorf("only %d secrets were recorded", n))...)
	} else if n < 20 {
		return errors.Join(errs...)
	}
	status, metrics := internal(common.s.InternalAddr(), "/metrics")
	if whole && (status != 200 || !strings.Contains(metrics, `atelier_handler_operation_seconds_count{environment="production",operation="tokenize",result="ok"}`)) {
		errs = append(errs, errors.New("the metrics do not count the token operations"))
	}
	search("the metrics", []byte(metrics))
	audit, err := wholeAudit(common.s.Addr())
	errs = append(errs, err)
	if whole && !bytes.Contains(audit, []byte("token_detokenize")) {
		errs = append(errs, errors.New("the audit trail has no token operations"))
	}
	search("the audit trail", audit)
	own, folders := common.folders()
	client, err := control.Dial(own)
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	defer client.Close()
	var saved bytes.Buffer
	errs = append(errs, client.Backup(&saved))
	search("a backup", saved.Bytes())

	looked := 0
	for _, folder := range folders {
		errs = append(errs, filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // the running database has removed the file
			}
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			content, err := os.ReadFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			looked += len(content)
			search(strings.TrimPrefix(path, folder), content)
			return err
		}))
	}
	if looked < 100<<10 {
		errs = append(errs, fmt.Errorf("only %d bytes of data were searched", looked))
	}
	return errors.Join(errs...)
}

// wholeAudit returns the audit trail as an admin reads it.
func wholeAudit(addr string) ([]byte, error) {
	client := &http.Client{Timeout: testTimeout}
	defer client.CloseIdleConnections()
	login, _ := json.Marshal(record{"admin_id": adminID, "admin_pw": adminPW})
	res, err := client.Post("http://"+addr+"/api/login", "application/json", bytes.NewReader(login))
	if err != nil {
		return nil, err
	}
	res.Body.Close()
	var all bytes.Buffer
	for offset := 0; ; offset += 1000 {
		req, err := http.NewRequest(http.MethodGet, fmt.Sprintf("http://%s/api/admin/audit-logs?limit=1000&offset=%d", addr, offset), nil)
		if err != nil {
			return nil, err
		}
		for _, c := range res.Cookies() {
			req.AddCookie(c)
		}
		page, err := client.Do(req)
		if err != nil {
			return nil, err
		}
		before := all.Len()
		_, err = all.ReadFrom(page.Body)
		page.Body.Close()
		if err != nil || page.StatusCode != 200 || all.Len()-before < 10 {
			return all.Bytes(), err
		}
	}
}
