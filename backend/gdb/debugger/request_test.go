package debugger

import (
	"testing"

	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/protocol"
)

// TestRequestsShareACommand checks that they do until one of them changes it.
func TestRequestsShareACommand(t *testing.T) {
	c := &request.Command{Name: "break", Args: protocol.Args{Condition: "x > 1"}}
	first, second := &request.Request{Command: c}, &request.Request{Command: c}
	first.Unshare()
	first.Args.Location = "*$pc"
	if second.Args.Location != "" {
		t.Errorf("what one rank changes is seen by another: %q", second.Args.Location)
	}
	if first.Name != "break" || first.Args.Condition != "x > 1" {
		t.Errorf("a command of its own is %q %v, not the same", first.Name, first.Args)
	}
}

// TestBodyOfIsThatOfWhatIsPrinted checks that BodyOf does not return the body of
// another value.
func TestBodyOfIsThatOfWhatIsPrinted(t *testing.T) {
	var c request.Command
	for _, test := range []struct {
		printed values.Printed
		want    string
	}{
		{values.Printed{Expr: "a"}, `{"expr":"a"}`},
		{values.Printed{Expr: "a"}, `{"expr":"a"}`},
		{values.Printed{Expr: "a", Elements: 300, Last: 199}, `{"expr":"a","elements":300,"last":199}`},
		{values.Printed{}, `{"expr":""}`},
		{values.Printed{Expr: "a"}, `{"expr":"a"}`},
	} {
		if got := string(c.BodyOf(test.printed)); got != test.want {
			t.Errorf("the body is %s, not %s", got, test.want)
		}
	}
}
