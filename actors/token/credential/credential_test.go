package credential

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var now = time.Date(2026, 3, 31, 23, 59, 59, 0, time.UTC)

func TestParse(t *testing.T) {
	rest := `"expiry_month":3,"expiry_year":2026`
	for _, c := range []struct {
		text  string
		rules Rules
		want  string // "ok", or a part of the error
		shape bool
	}{
		{`{"type":"card","card_number_type":"fpan","number":"4242424242424242",` + rest + `}`, Rules{}, "ok", false},
		{`{"type":"card","card_number_type":"fpan","number":"4242424242424242",` + rest + `}`, Rules{RefuseExpired: true}, "ok", false},
		{`{"type":"card","card_number_type":"fpan","number":"4242424242424242","expiry_month":2,"expiry_year":2026}`, Rules{RefuseExpired: true}, "expired", false},
		{`{"type":"card","card_number_type":"network_token","number":"4242424242424241",` + rest + `}`, Rules{}, "ok", false},
		{`{"type":"pan","number":"378282246310005",` + rest + `}`, Rules{}, "ok", false},
		{`{"type":"pan","number":"378282246310006",` + rest + `}`, Rules{}, "check digit", false},
		{`{"type":"network_token","number":"4242424242424241","cryptogram":"x",` + rest + `}`, Rules{}, "ok", false},
		{`{"type":"network_token","number":"4242424242424241",` + rest + `}`, Rules{}, "cryptogram is required", true},
		{`{"type":"network_token","number":"4242424242424241","cryptogram":"",` + rest + `}`, Rules{}, "cryptogram", false},
		{`{"type":"iban"}`, Rules{}, "not one this handler accepts", false},
		{`{"type":"iban","x":{"y":[1]}}`, Rules{Opaque: []string{"iban"}}, "ok", false},
		{`{"type":"iban","x":"` + strings.Repeat("x", MaxBytes) + `"}`, Rules{Opaque: []string{"iban"}}, "larger", false},
		{`{}`, Rules{}, "type is required", true},
		{`null`, Rules{}, "credential is required", true},
		{``, Rules{}, "credential is required", true},
		{`"card"`, Rules{}, "object", true},
		{`{"type":1}`, Rules{}, "credential.type", true},
		{`{"type":"card","card_number_type":"fpan","number":"\u0034242424242424242","cvc":"\u0031\/",` + rest + `}`, Rules{}, "cvc", false},
		{`{"type":"card","card_number_type":"fpan","number":"\u0034242424242424242","cvc":"\u0031\u00323",` + rest + `}`, Rules{}, "ok", false},
		{`{"type":"card","card_number_type":"fpan","number":"4242424242424242","cvc":null,"name":"",` + rest + `}`, Rules{}, "ok", false},
		{`{"type":"card","card_number_type":"fpan","number":"4242424242424242","cvc":123,` + rest + `}`, Rules{}, "credential.cvc", true},
		{`{"type":"card","card_number_type":"fpan","number":"4242424242424242","name":["a"],` + rest + `}`, Rules{}, "credential.name", true},
		{`{"type":"card","card_number_type":"fpan","number":"4242424242424242","name":"a` + "\x01" + `",` + rest + `}`, Rules{}, "credential", true},
		{`{"type":"card","card_number_type":"fpan","number":"4242424242424241","number":"4242424242424242",` + rest + `}`, Rules{}, "ok", false},
		{`{"type":"iban","x":"a` + "\x01" + `"}`, Rules{Opaque: []string{"iban"}}, "credential", true},
		{`{"type":"card","card_number_type":"fpan","number":4242424242424242,` + rest + `}`, Rules{}, "credential.number", true},
		{`{"type":"card","card_number_type":"fpan","number":"4242424242424242","expiry_month":1e400,"expiry_year":1}`, Rules{}, "credential", true},
	} {
		got, err := Parse([]byte(c.text), c.rules, now)
		var shape *Shape
		switch {
		case c.want == "ok":
			if err != nil || string(got.Bytes()) != c.text {
				t.Errorf("a valid credential is refused or changed: %.60s: %v", c.text, err)
			}
		case err == nil || !strings.Contains(err.Error(), c.want) || errors.As(err, &shape) != c.shape:
			t.Errorf("an invalid credential %.60s returned %v", c.text, err)
		}
		if err != nil && strings.ContainsAny(err.Error(), "456") && strings.Contains(err.Error(), "424") {
			t.Errorf("%.60s: the error repeats the content: %v", c.text, err)
		}
	}
}

// The decoded fields of a card are wiped, even if the card is refused.
func TestDecodedFieldsOfACardAreWiped(t *testing.T) {
	var buffers [][]byte
	held := 0
	wiping = func(b []byte) {
		if buffers = append(buffers, b); strings.Contains(string(b), "424242") || strings.Contains(string(b), "737") || strings.Contains(string(b), "Ann") {
			held++
		}
	}
	defer func() { wiping = func([]byte) {} }()
	card := `{"type":"card","card_number_type":"fpan","number":"4242424242424242","expiry_month":3,"expiry_year":2026,"cvc":"737","name":"Ann"}`
	for text, want := range map[string]int{
		card: 3,
		strings.Replace(card, "4242424242424242", "4242424242424241", 1):                        3,
		strings.Replace(card, `"cvc"`, `"number":"4242424242424242","cvc"`, 1):                  4,
		strings.Replace(card, "2026", `"2026"`, 1):                                              3,
		strings.Replace(card, `"4242424242424242"`, `"\u0034242424242424242"`, 1):               3,
		`{"number":"4242424242424242","cvc":"737","cryptogram":"737","amount":1,"type":"card"}`: 0,
	} {
		buffers, held = nil, 0
		c, err := Parse([]byte(text), Rules{}, now)
		if want > 0 && held < want {
			t.Errorf("%.70s: %d wiped buffers contained data, want %d", text, held, want)
		}
		if err == nil && string(c.Bytes()) != text {
			t.Errorf("%.70s: the returned credential was wiped", text)
		}
		held = 0
		_, _, err = WithoutSensitive([]byte(text))
		if err != nil || held != 3 {
			t.Errorf("%.70s: %d wiped buffers contained data, want 3; %v", text, held, err)
		}
		for _, b := range buffers {
			if strings.Trim(string(b), "\x00") != "" {
				t.Errorf("%.70s: a buffer of %d bytes was not wiped", text, len(b))
			}
		}
	}
}

func TestBrands(t *testing.T) {
	for number, want := range map[string]string{
		"4242424242424242": "visa", "5555555555554444": "mastercard", "2223003122003222": "mastercard", "378282246310005": "amex",
		"6011111111111117": "discover", "3530111333300000": "jcb", "30569309025904": "diners", "6200000000000005": "unionpay",
		"9999999999999995": "unknown",
	} {
		if got := brand([]byte(number)); got != want {
			t.Errorf("the brand of %s is %s, want %s", number[:4], got, want)
		}
	}
}

// The check digit detects every single wrong digit.
func TestLuhn(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		digits := []byte(rapid.StringMatching(`[0-9]{11,18}`).Draw(rt, "digits"))
		for d := byte('0'); d <= '9'; d++ {
			if luhnValid(append(digits, d)) {
				digits = append(digits, d)
				break
			}
		}
		if !luhnValid(digits) {
			rt.Fatal("no check digit is valid")
		}
		i := rapid.IntRange(0, len(digits)-1).Draw(rt, "place")
		other := byte('0' + rapid.IntRange(0, 9).Draw(rt, "digit"))
		if other != digits[i] {
			digits[i] = other
			if luhnValid(digits) {
				rt.Fatal("a wrong digit is accepted")
			}
		}
	})
}

func TestWithoutSensitive(t *testing.T) {
	in := `{"number":"42","cvc":"737","nested":{"cvc":"stays"},"cryptogram":"AA==","amount":1.50,"cvc":"again"}`
	out, changed, err := WithoutSensitive([]byte(in))
	if err != nil || !changed {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(out, &fields); err != nil || len(fields) != 3 || string(fields["amount"]) != "1.50" || string(fields["nested"]) != `{"cvc":"stays"}` {
		t.Errorf("the remaining fields are %s", out)
	}
	if _, changed, err := WithoutSensitive([]byte(`{"a":1}`)); changed || err != nil {
		t.Error(err)
	}
	if _, _, err := WithoutSensitive([]byte(`[`)); err == nil {
		t.Error("invalid JSON is accepted")
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"type":"card","card_number_type":"fpan","number":"4242424242424242","expiry_month":3,"expiry_year":2026}`)
	f.Add(`{"type":"any"}`)
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse([]byte(text), Rules{Opaque: []string{"any"}}, now)
		if err != nil {
			return
		}
		if !json.Valid(c.Bytes()) {
			t.Fatal("invalid JSON was accepted")
		}
		if s := fmt.Sprintf("%v %+v %#v %s", c, c, c, c); strings.Trim(strings.ReplaceAll(s, "[redacted]", ""), " ") != "" {
			t.Fatal("the credential prints its content")
		}
	})
}
