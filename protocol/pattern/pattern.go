// Package pattern provides regular expressions that are compiled when they are used first. A hundred
// of them describe the text of gdb: to compile these took 1.2 ms of each start of a program, and most
// sessions use few.
package pattern

import (
	"regexp"
	"sync"
)

// Pattern is such an expression. It has some of the methods of regexp.Regexp. Several goroutines may
// use it.
type Pattern struct{ compiled func() *regexp.Regexp }

// New returns the pattern of a text in the syntax of package regexp. If the text is invalid, the
// methods of the pattern panic.
func New(text string) *Pattern {
	return &Pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
}

// MatchString is that of regexp.Regexp.
func (p *Pattern) MatchString(s string) bool { return p.compiled().MatchString(s) }

// FindString is that of regexp.Regexp.
func (p *Pattern) FindString(s string) string { return p.compiled().FindString(s) }

// FindAllString is that of regexp.Regexp.
func (p *Pattern) FindAllString(s string, n int) []string { return p.compiled().FindAllString(s, n) }

// FindStringSubmatch is that of regexp.Regexp.
func (p *Pattern) FindStringSubmatch(s string) []string { return p.compiled().FindStringSubmatch(s) }

// FindStringSubmatchIndex is that of regexp.Regexp.
func (p *Pattern) FindStringSubmatchIndex(s string) []int {
	return p.compiled().FindStringSubmatchIndex(s)
}

// ExpandString is that of regexp.Regexp.
func (p *Pattern) ExpandString(b []byte, template, s string, match []int) []byte {
	return p.compiled().ExpandString(b, template, s, match)
}

// FindAllStringSubmatch is that of regexp.Regexp.
func (p *Pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p.compiled().FindAllStringSubmatch(s, n)
}

// ReplaceAllString is that of regexp.Regexp.
func (p *Pattern) ReplaceAllString(s, by string) string { return p.compiled().ReplaceAllString(s, by) }

// ReplaceAllStringFunc is that of regexp.Regexp.
func (p *Pattern) ReplaceAllStringFunc(s string, by func(string) string) string {
	return p.compiled().ReplaceAllStringFunc(s, by)
}
