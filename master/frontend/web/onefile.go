// One file: the report of a hang file with the page in it.

package web

import (
	"encoding/json"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"

	"sdm/master/hangfile"
	"sdm/master/hangfile/report"
	"sdm/master/session"
	"sdm/protocol/canonical"
	"sdm/protocol/pattern"
)

// WriteFile writes the report of a hang file. In a browser that executes scripts it is the page: what is in the report
// can be taken as the focus, and there are the grid, the boxes of the stacks and plots of values, all from data within.
func WriteFile(w io.Writer, f *hangfile.File) error {
	html := string(fileOf("index.html"))
	return report.Write(w, f, report.Live{
		Style:  template.CSS(fileOf("style.css")),
		Ranks:  template.HTML(partOf(html, "ranks")),
		Stacks: template.HTML(partOf(html, "icicle")),
		Values: template.HTML(partOf(html, "plot")),
		Script: template.JS(script()),
		Data:   dataOf(f),
	})
}

// fileJSON is what the page asks of a session, as the hang file answers it.
type fileJSON struct {
	Session sessionJSON     `json:"session"`
	States  json.RawMessage `json:"states"`
	Stacks  json.RawMessage `json:"stacks"`
	Hosts   []session.Event `json:"hosts,omitempty"`
	Values  []valueJSON     `json:"values,omitempty"`
}

// valueJSON is a command that was given, and its answers.
type valueJSON struct {
	Line   string          `json:"line"`
	Events []session.Event `json:"events"`
}

// Bounds of the data within a page; the report has the text.
const (
	maxFileValues = 64 << 10 // bytes of answers with values
	maxFileGroups = 256      // in different states; see encodeGroups
)

// dataOf returns the data of a page.
func dataOf(f *hangfile.File) json.RawMessage {
	var states []session.StatusGroup
	for _, s := range f.States {
		states = append(states, session.StatusGroup{Status: s.Status, Ranks: s.Ranks})
	}
	a := answerJSON{}
	a.Stack, a.Frames = framesOf(hangfile.Groups(f.Stacks))
	d := fileJSON{Session: sessionJSON{Program: f.Job.Line(), Ranks: f.Ranks, N: f.Ranks.Len(), Past: true},
		States: encodeGroups(1, f.Ranks, states, maxFileGroups), Stacks: canonical.JSON(a), Hosts: f.Hosts}
	room := maxFileValues
	for _, v := range f.Values {
		text := canonical.JSON(v.Answers)
		if room -= len(text); room < 0 {
			break
		}
		d.Values = append(d.Values, valueJSON{v.Line, v.Answers})
	}
	return canonical.JSON(d)
}

// partOf returns a part of the page: what is between <!-- NAME --> and <!-- end of NAME -->.
func partOf(html, name string) string {
	_, rest, _ := strings.Cut(html, "<!-- "+name+" -->")
	part, _, _ := strings.Cut(rest, "<!-- end of "+name+" -->")
	return part
}

// modules are the modules of the page in an order in which each comes after those that it imports.
var modules = []string{"dom", "lines", "runs", "groups", "icicle", "numbers", "api", "plot", "grid", "looks", "main"}

// Lines of a module that import and export. They are written so that each is one line, and names are not changed by an
// import.
var (
	importLine = pattern.New(`(?m)^import (?:\* as (\w+)|(\{[^}]*\})) from "\./(\w+)\.mjs";$`)
	exportLine = pattern.New(`(?m)^export (async function|function|const) ([\w$]+)`)
)

// script returns the modules as one script: each is a function that returns what it exports.
var script = sync.OnceValue(func() []byte {
	var b strings.Builder
	b.WriteString("\"use strict\";\n")
	for _, name := range modules {
		text := string(fileOf(name + ".mjs"))
		var exports []string
		for _, m := range exportLine.FindAllStringSubmatch(text, -1) {
			exports = append(exports, m[2])
		}
		slices.Sort(exports)
		text = importLine.ReplaceAllString(text, "const $1$2 = of_$3;")
		text = exportLine.ReplaceAllString(text, "$1 $2")
		b.WriteString("const of_" + name + " = (() => {\n" + text + "return { " + strings.Join(exports, ", ") + " };\n})();\n")
	}
	return []byte(b.String())
})
