package powercut

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"time"

	"atelier/transport/auth"
)

const (
	adminID = "admin"
	adminPW = "correct horse battery"
)

// server is the real binary on a data folder.
type server struct {
	base   string
	cmd    *exec.Cmd
	output bytes.Buffer  // complete when over is closed
	over   chan struct{} // closed when the process is gone
	http   *http.Client
	csrf   string
}

// refusal is the error text of a server that ended instead of starting.
type refusal string

func (r refusal) Error() string { return "the server refuses to start: " + string(r) }

// options returns the options of a server whose store flushes and compacts early.
func (p *program) options(data string, flags ...string) (args, env []string) {
	args = append([]string{"serve", "--listen", "127.0.0.1:0", "--internal-listen", "127.0.0.1:0", "--data", data}, flags...)
	env = append(os.Environ(), "ADMIN_PW="+adminPW, "ATELIER_STORAGE_MEMTABLE_MIB=1", "ATELIER_STORAGE_MIN_FREE_MIB=1", "ATELIER_STORAGE_SNAPSHOT_EVENTS=40",
		"ATELIER_LIMITS_WRITES_PER_MINUTE=0", "ATELIER_LIMITS_UPLOADS_PER_MINUTE=0", "ATELIER_HANDLER_REQUESTS_PER_SECOND=0",
		"ATELIER_LIMITS_REGISTRATIONS_PER_SECOND_PER_ADDRESS=0", "ATELIER_SERVER_RECONNECT_SPREAD=10ms", "ATELIER_SERVER_DRAIN_TIMEOUT=8s", "GOMAXPROCS=2", "GOTRACEBACK=single")
	if p.shared {
		env = append(env, "ATELIER_FILES_STORE=folder:"+objectsBeside(data), "ATELIER_FILES_GRACE=1h")
	}
	return args, env
}

// program is the binary, with the place of its files.
type program struct {
	path   string
	shared bool // files and code are stored in a folder of shared objects
}

var listening = regexp.MustCompile(`msg=listening addr=(\S+)`)

// startTimeout is the maximum time for a server to start or stop.
const startTimeout = 60 * time.Second

// start starts the server and logs in. If the server exits instead, the error is a refusal.
func (p *program) start(data string, flags ...string) (*server, error) {
	args, env := p.options(data, flags...)
	s := &server{cmd: exec.Command(p.path, args...), over: make(chan struct{})}
	s.cmd.Env = env
	out, err := s.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	found := make(chan string, 1)
	go func() {
		defer close(s.over)
		lines := bufio.NewScanner(out)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if s.output.Len() < 1<<20 {
				s.output.WriteString(lines.Text() + "\n")
			}
			if m := listening.FindStringSubmatch(lines.Text()); m != nil {
				found <- m[1]
			}
		}
		_, _ = io.Copy(io.Discard, out)
		_ = s.cmd.Wait()
	}()
	select {
	case address := <-found:
		s.base = "http://" + address
	case <-s.over:
		return nil, refusal(lastWords(s.output.String()))
	case <-time.After(startTimeout):
		s.kill()
		return nil, fmt.Errorf("the server did not start within %v: %s", startTimeout, lastLines(s.output.String()))
	}
	if err := s.logIn(); err != nil {
		s.kill()
		return nil, err
	}
	return s, nil
}

// lastWords returns the error with which a server exited.
func lastWords(output string) string {
	if at := strings.LastIndex(output, "atelier: "); at >= 0 {
		return strings.TrimSpace(output[at:])
	}
	return lastLines(output)
}

func lastLines(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	return strings.Join(lines[max(0, len(lines)-6):], "\n")
}

// rotateKeys makes the running server create another token key.
func (p *program) rotateKeys(data string) error {
	_, env := p.options(data)
	cmd := exec.Command(p.path, "keys", "rotate", "--data", data)
	cmd.Env = env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("rotate the token keys: %w: %s", err, out)
	}
	return nil
}

// kill ends the process immediately.
func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	<-s.over
}

// stop ends the process properly, like an operator. It kills the process after a timeout.
func (s *server) stop() {
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.over:
	case <-time.After(startTimeout):
		s.kill()
	}
}

func (s *server) logIn() error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	s.http = &http.Client{Jar: jar, Timeout: time.Minute, Transport: &http.Transport{}}
	if err := s.call(http.MethodPost, "/api/login", record{"admin_id": adminID, "admin_pw": adminPW}, nil); err != nil {
		return err
	}
	at, err := url.Parse(s.base + "/api/")
	if err != nil {
		return err
	}
	for _, c := range jar.Cookies(at) {
		if c.Name == auth.CSRFCookie {
			s.csrf = c.Value
		}
	}
	return nil
}

// record is a JSON object.
type record map[string]any

func (r record) text(key string) string {
	s, _ := r[key].(string)
	return s
}

// status is an unsuccessful response.
type status struct {
	code int
	text string
}

func (s status) Error() string { return fmt.Sprintf("%d: %.300s", s.code, s.text) }

// call sends a JSON request as the administrator, and decodes the response into out, which can be
// a *[]byte or nil.
func (s *server) call(method, path string, body, out any) error {
	return s.callAs("", method, path, body, out)
}

// nobody calls without a session.
const nobody = "nobody"

// callAs is like call, with the API key of a participant, or without a session.
func (s *server) callAs(key, method, path string, body, out any) error {
	var raw []byte
	contentType := "application/json"
	switch b := body.(type) {
	case nil:
	case upload:
		raw, contentType = b.encode()
	default:
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return err
		}
	}
	req, err := http.NewRequest(method, s.base+path, bytes.NewReader(raw))
	if err != nil {
		return err
	}
	if body != nil {
		req.Header.Set("Content-Type", contentType)
	}
	client := s.http
	if key != "" {
		if key != nobody {
			req.Header.Set("Authorization", "Bearer "+key)
		}
		client = &http.Client{Timeout: s.http.Timeout, Transport: s.http.Transport}
	} else if s.csrf != "" {
		req.Header.Set(auth.CSRFHeader, s.csrf)
	}
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	if err != nil {
		return err
	}
	if res.StatusCode >= 300 {
		return status{res.StatusCode, string(got)}
	}
	switch out := out.(type) {
	case nil:
		return nil
	case *[]byte:
		*out = got
		return nil
	default:
		return json.Unmarshal(got, out)
	}
}

// upload is a file in a form.
type upload struct {
	name    string
	content []byte
}

func (u upload) encode() (body []byte, contentType string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	part, _ := w.CreateFormFile("file", u.name)
	_, _ = part.Write(u.content)
	_ = w.Close()
	return b.Bytes(), w.FormDataContentType()
}
