package web

import "strings"

// route is an address of the app.
type route struct {
	// pattern is a path. A segment that begins with a colon matches any value. A star at the end
	// matches all paths below that have no route.
	pattern string
	// title is the key of the page's title in a language's texts. The app replaces this title when
	// it has loaded the page's data. "" means the app's name.
	title string
	// verify means that the page shows the certificate whose id is the last segment.
	verify bool
	// framed means that the page is an attendee's page, which other sites can show in frames.
	framed bool
}

// routes lists all addresses of the app. Other addresses get 404 with the app, which shows an error
// page.
var routes = []route{
	{pattern: "/", framed: true},
	{pattern: "/invite", title: "invite"},
	{pattern: "/account", title: "account"},
	{pattern: "/login", title: "login"},
	{pattern: "/j/:code", title: "join", framed: true},
	{pattern: "/codelabs/:id", title: "codelab", framed: true},
	{pattern: "/codelabs/:id/all", title: "whole", framed: true},
	{pattern: "/admin", title: "codelabs"},
	{pattern: "/admin/audit-logs", title: "audit"},
	{pattern: "/admin/participants", title: "participants"},
	{pattern: "/admin/people", title: "people"},
	{pattern: "/admin/settings", title: "settings"},
	{pattern: "/admin/settings/:section", title: "settings"},
	{pattern: "/admin/:id", title: "live"},
	{pattern: "/admin/:id/edit", title: "edit"},
	{pattern: "/admin/:id/results", title: "results"},
	{pattern: "/admin/:id/settings", title: "settings"},
	{pattern: "/admin/:id/settings/:section", title: "settings"},
	{pattern: "/admin/:id/projector", title: "projector"},
	{pattern: "/admin/:id/*", title: "codelab"},
	{pattern: "/certificate/:id", title: "certificate", framed: true},
	{pattern: "/help", title: "help", framed: true},
	{pattern: "/help/:page", title: "help", framed: true},
	{pattern: "/verify/:id", title: "verify", verify: true, framed: true},
}

// notFound is the key of the page title for all other addresses.
const notFound = "missing"

// node is a segment of a tree of paths.
type node struct {
	page  *page // of the path that ends here; nil for none
	below map[string]*node
	any   *node // below, with any value
	rest  *page // for unknown paths below; nil for none
}

// add adds the page of a route.
func (n *node) add(pattern string, p *page) {
	for segment := range segments(pattern) {
		if segment == "*" {
			n.rest = p
			return
		}
		if strings.HasPrefix(segment, ":") {
			if n.any == nil {
				n.any = &node{}
			}
			n = n.any
			continue
		}
		if n.below == nil {
			n.below = map[string]*node{}
		}
		if n.below[segment] == nil {
			n.below[segment] = &node{}
		}
		n = n.below[segment]
	}
	n.page = p
}

// find returns the page of a path; nil for none. A fixed segment has priority over a value, and a
// value over the rest.
func (n *node) find(path string) *page {
	var rest *page
	known := true
	for segment := range segments(path) {
		if !isValue(segment) {
			return nil // fixed segments do not look like this either
		}
		if !known {
			continue
		}
		if n.rest != nil {
			rest = n.rest
		}
		next := n.below[segment]
		if next == nil {
			next = n.any
		}
		if n, known = next, next != nil; !known && rest == nil {
			return nil
		}
	}
	if known && n.page != nil {
		return n.page
	}
	return rest
}

// segments yields the segments of a path, which begins with a slash; none for the root. A slash at
// the end adds an empty segment.
func segments(path string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		rest, ok := strings.CutPrefix(path, "/")
		if !ok {
			yield("") // an empty segment matches no route
			return
		}
		for more := rest != ""; more; {
			var segment string
			segment, rest, more = strings.Cut(rest, "/")
			if !yield(segment) {
				return
			}
		}
	}
}

// longestValue is the maximum length of a segment with a value, in bytes. Ids are 36 bytes long.
const longestValue = 128

// isValue reports whether a segment can be an id or a code of this server: it needs no escaping in
// a path, and does not lead up.
func isValue(s string) bool {
	if s == "" || len(s) > longestValue || s[0] == '.' {
		return false
	}
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && c != '-' && c != '_' && c != '.' && c != '~' {
			return false
		}
	}
	return true
}
