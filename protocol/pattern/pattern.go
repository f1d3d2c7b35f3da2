// Package pattern provides regular expressions that are compiled when they are used first. More than a hundred
// of them describe the text of gdb and of launchers: to compile these took 1.2 ms of each start of a program, and
// most sessions use few.
package pattern

import (
	"regexp"
	"sync"
)

// Pattern is such an expression. It has some of the methods of regexp.Regexp. Several goroutines may
// use it.
type Pattern struct {
	text     string
	compiled func() *regexp.Regexp
}

// New returns the pattern of a text in the syntax of package regexp. If the text is invalid, the
// methods of the pattern panic.
func New(text string) *Pattern {
	return &Pattern{text, sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
}

// String returns the text of the pattern.
func (p *Pattern) String() string { return p.text }

// Match is as in regexp.Regexp.
func (p *Pattern) Match(b []byte) bool { return p.compiled().Match(b) }

// FindSubmatch is as in regexp.Regexp.
func (p *Pattern) FindSubmatch(b []byte) [][]byte { return p.compiled().FindSubmatch(b) }

// MatchString is as in regexp.Regexp.
func (p *Pattern) MatchString(s string) bool { return p.compiled().MatchString(s) }

// FindString is as in regexp.Regexp.
func (p *Pattern) FindString(s string) string { return p.compiled().FindString(s) }

// FindAllString is as in regexp.Regexp.
func (p *Pattern) FindAllString(s string, n int) []string { return p.compiled().FindAllString(s, n) }

// FindStringSubmatch is as in regexp.Regexp.
func (p *Pattern) FindStringSubmatch(s string) []string { return p.compiled().FindStringSubmatch(s) }

// FindStringSubmatchIndex is as in regexp.Regexp.
func (p *Pattern) FindStringSubmatchIndex(s string) []int {
	return p.compiled().FindStringSubmatchIndex(s)
}

// ExpandString is as in regexp.Regexp.
func (p *Pattern) ExpandString(b []byte, template, s string, match []int) []byte {
	return p.compiled().ExpandString(b, template, s, match)
}

// FindAllStringSubmatch is as in regexp.Regexp.
func (p *Pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.compiled().FindAllStringSubmatch(s, n)
}

// ReplaceAllString is as in regexp.Regexp.
func (p *Pattern) ReplaceAllString(s, by string) string { return p.compiled().ReplaceAllString(s, by) }

// ReplaceAllStringFunc is as in regexp.Regexp.
func (p *Pattern) ReplaceAllStringFunc(s string, by func(string) string) string {
	return p.compiled().ReplaceAllStringFunc(s, by)
}
