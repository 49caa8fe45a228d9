package rest

import (
	"slices"
	"testing"

	"github.com/valyala/fasthttp"

	"atelier/transport/httpapi"
)

func conditional(header string, lines ...string) *Request {
	ctx := &fasthttp.RequestCtx{}
	for _, l := range lines {
		ctx.Request.Header.Add(header, l)
	}
	return &Request{Exchange: httpapi.Alone(ctx, httpapi.Endpoint{}), api: &API{Config: Config{StreamID: "0123456789"}}}
}

func TestIfMatchComparesOnlyTheEdition(t *testing.T) {
	for _, tc := range []struct {
		lines []string
		want  []uint64 // nil for no condition
	}{
		{nil, nil},
		{[]string{"*"}, nil},
		{[]string{`"01234567-z.whatever-a"`}, []uint64{35}},
		{[]string{`W/"01234567-z.1-t-gzip", "01234567-10.2-a"`}, []uint64{35, 36}},
		{[]string{`"01234567-z"`}, []uint64{35}},
		{[]string{`"76543210-z.1-a"`}, []uint64{}}, // another stream, because the server was restored from a backup
		{[]string{`nonsense`}, []uint64{}},
		{[]string{`""`}, []uint64{}},
	} {
		got := conditional("If-Match", tc.lines...).ifMatch()
		if (got == nil) != (tc.want == nil) || got != nil && !slices.Equal(got, tc.want) {
			t.Errorf("If-Match %q: the editions are %v", tc.lines, got)
		}
	}
}
