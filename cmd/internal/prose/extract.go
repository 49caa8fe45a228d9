package main

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// page is text for Vale, with the source line of each of its lines.
type page struct {
	text  strings.Builder
	lines []int
}

// fragment adds a separate text that begins at the given source line. Names, headings, short
// comments and the text before an example have no full stop, so Vale would continue into the next
// paragraph. They get an exclamation mark, because the rules for whole sentences look for a full
// stop. Vale does not recognize the end of a sentence after a name with a dot, so an underscore
// replaces the dot.
func (p *page) fragment(line int, text string) {
	text = unended.ReplaceAllString(strings.TrimRight(text, " \n"), "$1!$2")
	p.add(line, dotted.ReplaceAllString(text, "${1}_$2"))
}

// add adds a paragraph that begins at the given source line.
func (p *page) add(line int, text string) {
	for l := range strings.SplitSeq(text, "\n") {
		p.text.WriteString(l + "\n")
		p.lines = append(p.lines, line)
		line++
	}
	p.text.WriteString("\n")
	p.lines = append(p.lines, line)
}

// extract returns the prose of a file, or false if files of this kind contain no prose.
func extract(path string, source []byte) (*page, bool) {
	p := &page{}
	switch ext := filepath.Ext(path); {
	case ext == ".go":
		p.fromGo(path, source)
	case ext == ".md":
		head := head.FindString(string(source))
		p.add(1+strings.Count(head, "\n"), string(source)[len(head):])
	case ext == ".ts", ext == ".svelte", ext == ".proto":
		p.fromComments(source, slashes)
	case ext == ".toml", filepath.Base(path) == "Makefile":
		p.fromComments(source, hashes)
		for i, line := range strings.Split(string(source), "\n") {
			if m := profile.FindStringSubmatch(line); m != nil {
				p.fragment(i+1, m[1])
			}
		}
	case filepath.Base(path) == "en.json":
		p.fromStrings(source, nil)
	case filepath.Base(path) == "openapi.json": // its texts come from tables, tags and pieces
		p.fromStrings(source, described)
	default:
		return nil, false
	}
	return p, true
}

var (
	generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)
	directive = regexp.MustCompile(`^//[a-z]+:|^//nolint`)
	slashes   = regexp.MustCompile(`^\s*(?://+|/\*+|\*/?|<!--) ?(.*?)(?:\*/|-->)?$`)
	hashes    = regexp.MustCompile(`^#+\s(.*)$`)
	profile   = regexp.MustCompile(`^description = "(.*)"$`) // of a load profile
	setting   = regexp.MustCompile(`^[a-z_0-9]+ = |^\[`)     // a commented-out setting
	head      = regexp.MustCompile(`^(?:[a-z ]+: .*\n)+\n`)  // the settings of a codelab in claat's format
	described = []string{"description", "summary", "title"}
	errorMade = []string{"New", "Errorf"}
	subject   = regexp.MustCompile(`^[a-z_.]+: `) // of an error text: a setting or a command
	unended   = regexp.MustCompile(`([^\s.!?])((?: *\n){2,}|$)`)
	dotted    = regexp.MustCompile(`([A-Za-z]\w*)\.(\w)`) // a name such as "durable.ErrBusy"
	verb      = regexp.MustCompile(`%[-+# 0-9.]*[a-zA-Z]`)
)

func (p *page) fromGo(path string, source []byte) {
	if generated.Match(source) {
		return
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, source, parser.ParseComments)
	if err != nil {
		return // the compiler reports it
	}
	for _, group := range file.Comments {
		var b strings.Builder
		for _, c := range group.List {
			for line := range strings.SplitSeq(c.Text, "\n") {
				m := slashes.FindStringSubmatch(line)
				// Indented lines are code in a comment.
				if m == nil || directive.MatchString(line) || strings.HasPrefix(m[1], "\t") || strings.HasPrefix(m[1], "  ") {
					m = []string{"", ""}
				}
				b.WriteString(m[1] + "\n")
			}
		}
		p.fragment(files.Position(group.Pos()).Line, b.String())
	}
	test := strings.HasSuffix(path, "_test.go")
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if test && strings.HasPrefix(n.Name.Name, "Test") {
				p.fragment(files.Position(n.Pos()).Line, words(strings.TrimPrefix(n.Name.Name, "Test")))
			}
		case *ast.Field:
			if n.Tag == nil {
				break
			}
			raw, _ := strconv.Unquote(n.Tag.Value)
			for _, key := range []string{"doc", "help"} {
				if text := reflect.StructTag(raw).Get(key); text != "" {
					p.fragment(files.Position(n.Tag.Pos()).Line, text)
				}
			}
		case *ast.CallExpr:
			called, ok := n.Fun.(*ast.SelectorExpr)
			if test || !ok || len(n.Args) == 0 || !slices.Contains(errorMade, called.Sel.Name) {
				break
			}
			if from, ok := called.X.(*ast.Ident); !ok || from.Name != "errors" && from.Name != "fmt" {
				break
			}
			if text, ok := n.Args[0].(*ast.BasicLit); ok && text.Kind == token.STRING {
				content, _ := strconv.Unquote(text.Value)
				content = verb.ReplaceAllString(subject.ReplaceAllString(content, ""), "X")
				p.fragment(files.Position(text.Pos()).Line, content)
			}
		}
		return true
	})
}

// words returns a name in camel case as a sentence.
func words(name string) string {
	var b strings.Builder
	for i, r := range name {
		if i > 0 && unicode.IsUpper(r) {
			b.WriteByte(' ')
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

// fromComments extracts the lines that match comment, except commented-out settings. Consecutive
// lines form a paragraph.
func (p *page) fromComments(source []byte, comment *regexp.Regexp) {
	begin, text := 0, []string{}
	end := func() {
		if len(text) > 0 {
			p.fragment(begin, strings.Join(text, "\n"))
		}
		text = text[:0]
	}
	at := 0
	for line := range strings.Lines(string(source)) {
		at++
		m := comment.FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil || setting.MatchString(m[1]) {
			end()
			continue
		}
		if len(text) == 0 {
			begin = at
		}
		text = append(text, strings.TrimLeft(m[1], " "))
	}
	end()
}

// fromStrings extracts the strings of a JSON document. If keys are given, it extracts only the
// values of these keys.
func (p *page) fromStrings(source []byte, keys []string) {
	d := json.NewDecoder(bytes.NewReader(source))
	var walk func(key string) error
	walk = func(key string) error {
		t, err := d.Token()
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case string:
			if keys == nil || slices.Contains(keys, key) {
				p.fragment(1+bytes.Count(source[:d.InputOffset()], []byte("\n")), strings.ReplaceAll(t, "\n", " "))
			}
		case json.Delim:
			for d.More() {
				member := key
				if t == '{' {
					name, err := d.Token()
					if err != nil {
						return err
					}
					if s, ok := name.(string); ok {
						member = s
					}
				}
				if err := walk(member); err != nil {
					return err
				}
			}
			_, err = d.Token()
			return err
		}
		return nil
	}
	_ = walk("") // other tests report invalid JSON
}
