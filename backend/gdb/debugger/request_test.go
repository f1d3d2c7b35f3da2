package debugger

import (
	"testing"

	"sdm/protocol"
)

// TestRequestsShareACommand checks that they do until one of them changes it.
func TestRequestsShareACommand(t *testing.T) {
	c := &Command{Name: "break", args: protocol.Args{Condition: "x > 1"}}
	first, second := &Request{Command: c}, &Request{Command: c}
	first.apart()
	first.args.Location = "*$pc"
	if second.args.Location != "" {
		t.Errorf("what one rank changes is seen by another: %q", second.args.Location)
	}
	if first.Name != "break" || first.args.Condition != "x > 1" {
		t.Errorf("a command of its own is %q %v, not the same", first.Name, first.args)
	}
}

// TestBodyOfIsThatOfWhatIsPrinted checks that bodyOf does not return the body of
// another value.
func TestBodyOfIsThatOfWhatIsPrinted(t *testing.T) {
	var c Command
	for _, test := range []struct {
		printed printed
		want    string
	}{
		{printed{Expr: "a"}, `{"expr":"a"}`},
		{printed{Expr: "a"}, `{"expr":"a"}`},
		{printed{Expr: "a", Elements: 300, Last: 199}, `{"expr":"a","elements":300,"last":199}`},
		{printed{}, `{"expr":""}`},
		{printed{Expr: "a"}, `{"expr":"a"}`},
	} {
		if got := string(c.bodyOf(test.printed)); got != test.want {
			t.Errorf("the body is %s, not %s", got, test.want)
		}
	}
}
