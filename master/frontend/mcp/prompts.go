// Prompts and resources.

package mcp

import (
	"context"
	"errors"
	"net/url"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"sdm/master/language"
	"sdm/protocol"
)

// prompts are the prompts: name, title, arguments and text, in which {name} stands for an argument. It is read only.
var prompts = []struct{ name, title, args, text string }{
	{"diagnose_hang", "Why does this job hang?", "of",
		"The parallel job {of} hangs. Call sdm_why of={of} and read the verdict first: certain means that several samples agree. " +
			"If it says who waits for whom, look at the odd ranks: their stacks, then (only if the user agrees that the job " +
			"stands still) sdm_start attach, sdm_ask how=locals at their frames, sdm_ask how=diff of what decides their way. " +
			"Without a verdict take sdm_stacks with samples=10: ranks that have not moved are suspects. End with sdm_end " +
			"how=detach. Answer with the cause, the ranks, the line of source, and how sure it is."},
	{"diagnose_crash", "Why has this job crashed?", "of",
		"The parallel job {of} has crashed. If there is a hang file or a session, call sdm_why; with core files sdm_start " +
			"core=[program, cores], then sdm_stacks. Find the rank that ended first and its signal, go to the innermost frame " +
			"of the program, sdm_ask how=locals, and compare with a rank that lives (how=diff). Answer with the line of source, " +
			"the value that is wrong, and where it came from."},
	{"compare_ranks", "Which rank computes something else?", "session expr",
		"In session {session}, find the ranks whose {expr} is not as on the others: sdm_ask how=stat, then how=diff, then the " +
			"locals of the ranks that differ. NaN and infinity count as different. If all agree, set sdm_break at a place before, " +
			"sdm_resume, and compare again, halving the distance. Answer with the first place where they differ."},
}

// addPrompts adds the prompts to a server.
func (d *desk) addPrompts(s *sdk.Server) {
	for _, p := range prompts {
		prompt := &sdk.Prompt{Name: p.name, Title: p.title, Description: p.title}
		for _, name := range strings.Fields(p.args) {
			prompt.Arguments = append(prompt.Arguments, &sdk.PromptArgument{Name: name, Required: true})
		}
		s.AddPrompt(prompt, func(_ context.Context, r *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
			said := p.text
			for _, name := range strings.Fields(p.args) {
				said = strings.ReplaceAll(said, "{"+name+"}", r.Params.Arguments[name])
			}
			return &sdk.GetPromptResult{Description: p.title, Messages: []*sdk.PromptMessage{
				{Role: "user", Content: &sdk.TextContent{Text: said}}}}, nil
		})
	}
}

// addResources adds the resources to a server.
func (d *desk) addResources(s *sdk.Server) {
	read := func(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		said, err := d.resource(ctx, r.Params.URI)
		if err != nil {
			return nil, err
		}
		return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, MIMEType: "text/plain", Text: said}}}, nil
	}
	s.AddResource(&sdk.Resource{URI: "sdm://sessions", Name: "sessions", MIMEType: "text/plain"}, read)
	s.AddResourceTemplate(&sdk.ResourceTemplate{URITemplate: "sdm://session/{id}/{view}", Name: "view",
		Description: "stacks, states, output or log (who did what) of a session", MIMEType: "text/plain"}, read)
}

// resource returns the text of a resource.
func (d *desk) resource(ctx context.Context, uri string) (string, error) {
	u, err := url.Parse(uri)
	if err != nil {
		return "", err
	}
	id, view, _ := strings.Cut(strings.Trim(u.Path, "/"), "/")
	call, raw := "", "{}"
	switch {
	case u.Host == "sessions":
		call = "sdm_sessions"
	case !d.cfg.IsID(id):
	case view == "stacks":
		call, raw = "sdm_stacks", `{"session":"`+id+`"}`
	case view == "states":
		call, raw = "sdm_command", `{"session":"`+id+`","line":"ranks"}`
	case view == "output", view == "log":
		ctx, cancel := context.WithTimeout(ctx, d.longest)
		defer cancel()
		return d.guarded(uri, func() (string, error) { return d.past(ctx, id, view) })
	}
	if call == "" {
		return "", errors.New("there is sdm://sessions, and sdm://session/ID/ with stacks, states, output and log")
	}
	said, failed := d.call(ctx, call, []byte(raw))
	if failed {
		return "", errors.New(said)
	}
	return said, nil
}

// past returns what the ranks of a session have written, or what else was told, as far as it is kept.
func (d *desk) past(ctx context.Context, id, view string) (string, error) {
	r, err := d.room(ctx, id)
	if err != nil {
		return "", err
	}
	y := &reply{r: r}
	events, missed := r.Since(0)
	y.tell(events, missed, r.Ranks, func(g protocol.Group) bool {
		return g.Kind.IsOutput() == (view == "output") && !g.Kind.TellsState()
	})
	return y.text(maxBudget, "sdm_wait"), nil
}

// helpOn returns the help on a command of the console.
func helpOn(word string) (string, error) { return language.HelpText(strings.TrimSpace(word)) }
