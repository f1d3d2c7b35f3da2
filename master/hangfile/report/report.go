// Package report writes a hang file as one HTML page, which needs no network.
package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"io"
	"strings"

	"sdm/master/hangfile"
	"sdm/master/text"
	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/rank"
)

//go:embed page.html
var pageHTML string

// Style is the style sheet of the page.
//
//go:embed style.css
var Style string

// Bounds of a page; the hang file has the rest, and the page says so.
const (
	maxFrames  = 4000 // frames of all trees
	maxRows    = 400  // rows of a table
	maxAlike   = 60   // rows of calls; if there are more, similar ones are one
	openFrames = 300  // trees with at most so many frames are unfolded
)

// Live is what makes the page answer clicks in a browser that executes scripts. Without, its parts are hidden. The
// zero value adds nothing.
type Live struct {
	Style                 template.CSS
	Ranks, Stacks, Values template.HTML // behind the drawing, before the trees, behind the values
	Script                template.JS
	Data                  json.RawMessage // is "sdmData" for the script
}

// Write writes the page.
func Write(w io.Writer, f *hangfile.File, live Live) error {
	page := template.Must(template.New("page").Parse(pageHTML)) // it escapes all that comes from the file
	c := contentOf(f)
	c.Style, c.Live = template.CSS(Style), live
	var b bytes.Buffer
	if err := page.Execute(&b, c); err != nil {
		return err
	}
	_, err := w.Write(sealed(b.Bytes()))
	return err
}

// sealed permits the page its own script and style alone, by their hashes: whatever else is in it is not executed.
func sealed(page []byte) []byte {
	for _, name := range []string{"script", "style"} {
		_, rest, _ := bytes.Cut(page, []byte("<"+name+">"))
		body, _, _ := bytes.Cut(rest, []byte("</"+name+">"))
		sum := sha256.Sum256(body)
		hash := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
		page = bytes.Replace(page, []byte("'hash-of-"+name+"'"), []byte(hash), 1)
	}
	return page
}

// content is what the template shows.
type content struct {
	Title, When, Reason, Command, Job, Sdm, Format string
	Verdict                                        []finding
	Graph                                          *Drawing
	Calls                                          []row
	MoreCalls                                      int
	Trees                                          []tree
	MoreFrames                                     int
	Absent, States                                 []row
	Values                                         []value
	Output                                         []piece
	Dropped                                        []string
	Hosts                                          []row
	Versions                                       []row
	Style                                          template.CSS
	Live                                           Live
}

type finding struct {
	Kind, Label, Text string
}

// ranks is a rank set for a page.
type ranks struct {
	Text  string // cut if there are many ranges
	Title string // more of it, if Text is cut further
	Count int
}

type row struct {
	Ranks, For ranks
	Text       string
	Rows       int // similar ones that are one
}

type value struct{ Line, Text string }

// piece is output of some ranks.
type piece struct {
	Ranks  ranks
	Stream string
	From   string
	Text   string
}

func ranksOf(s rank.Set) ranks { return ranks{Text: text.Ranks(s), Count: s.Len()} }

// shortRanks returns a set for a line with more on it.
func shortRanks(s rank.Set) ranks {
	const most = 36 // characters
	r := ranksOf(s)
	if len(r.Text) > most {
		cut := strings.LastIndexByte(r.Text[:most], ',')
		r.Text, r.Title = r.Text[:cut+1]+"…", r.Text
	}
	return r
}

// clean removes control characters, which no browser shows, and bytes that are not UTF-8.
func clean(s string) string {
	lines := strings.Split(strings.ToValidUTF8(s, "\uFFFD"), "\n")
	for i := range lines {
		lines[i] = text.Clean(lines[i])
	}
	return strings.Join(lines, "\n")
}

// contentOf prepares the content of a page.
func contentOf(f *hangfile.File) *content {
	c := &content{
		When: f.When.Format(hangfile.TimeFormat), Sdm: clean(f.Sdm), Format: f.Version,
		Command: clean(f.Job.Line()), Job: jobText(f),
	}
	c.Reason = clean(string(f.Reason.Kind))
	if f.Reason.Text != "" {
		c.Reason += ": " + clean(f.Reason.Text)
	}
	if !f.Reason.Ranks.IsEmpty() {
		c.Reason += " (ranks " + text.Ranks(f.Reason.Ranks) + ")"
	}
	c.Title = titleOf(f)
	for _, x := range f.Verdict {
		c.Verdict = append(c.Verdict, finding{clean(x.Kind), x.Label(), clean(x.Text)})
	}
	c.Graph = Draw(f.Calls, f.Verdict)
	rows := hangfile.Alike(f.Calls, maxAlike)
	for i, x := range rows {
		if i == maxRows {
			c.MoreCalls = len(rows) - i
			break
		}
		c.Calls = append(c.Calls, row{ranksOf(x.Ranks), ranksOf(x.For), clean(x.Text), x.Count})
	}
	c.stacks(f)
	c.tables(f)
	return c
}

// titleOf returns "stall of job 4711".
func titleOf(f *hangfile.File) string {
	what, job := clean(string(f.Reason.Kind)), "a job"
	if f.Job.ID != "" {
		job = "job " + clean(f.Job.ID)
	}
	if f.Reason.Kind == hangfile.Asked {
		return "state of " + job
	}
	return what + " of " + job
}

// jobText describes the job in a line.
func jobText(f *hangfile.File) string {
	parts := []string{text.Plural(f.Ranks.Len(), "rank")}
	for _, p := range [][2]string{{"launcher ", f.Job.Launcher}, {"started on ", f.Job.Host}, {"in ", f.Job.Cwd}} {
		if p[1] != "" {
			parts = append(parts, p[0]+clean(p[1]))
		}
	}
	return strings.Join(parts, ", ")
}

// tables prepares states, values, output, hosts and versions.
func (c *content) tables(f *hangfile.File) {
	w := &text.Writer{All: f.Ranks}
	for _, s := range f.States[:min(len(f.States), maxRows)] {
		c.States = append(c.States, row{Ranks: ranksOf(s.Ranks),
			Text: clean(text.Said("ranks", protocol.Group{Kind: protocol.KindResult, Body: canonical.JSON(s.Status)}))})
	}
	for _, v := range f.Values {
		out, _ := w.Answers(text.Asked{Command: v.Command, Ranks: f.Ranks, Full: true}, hangfile.Groups(v.Answers))
		c.Values = append(c.Values, value{clean(v.Line), clean(strings.TrimSuffix(out, "\n"))})
	}
	for _, e := range f.Output.Events {
		stream := "stdout"
		if e.Group.Kind == protocol.KindStderr {
			stream = "stderr"
		}
		c.Output = append(c.Output, piece{ranksOf(e.Group.Ranks), stream, clean(e.From),
			clean(strings.TrimSuffix(string(e.Group.Body), "\n"))})
	}
	c.Dropped = f.Output.Dropped()
	for _, e := range f.Hosts[:min(len(f.Hosts), maxRows)] {
		c.Hosts = append(c.Hosts, row{Ranks: ranksOf(e.Group.Ranks), Text: clean(text.Said("info hosts", e.Group))})
	}
	for _, v := range f.Versions {
		r := ranksOf(v.Ranks)
		c.Versions = append(c.Versions, row{Ranks: r, Text: clean(v.Of + ": " + v.Text)})
	}
}
