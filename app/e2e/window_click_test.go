package e2e

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// Click clicks with the mouse on what has a role and a name, until a click has reached it:
// a page that lives moves its parts while a mouse is on its way, and people click again.
func (b *window) Click(role, name string) {
	b.t.Helper()
	for deadline := time.Now().Add(findTimeout); ; {
		err := b.click(b.Find(role, name))
		if err == nil {
			return
		}
		// What was found may have been replaced meanwhile, by the same anew.
		if time.Now().After(deadline) {
			b.t.Fatalf("%s %q: %v", role, name, err)
		}
	}
}

func (b *window) click(e element) error {
	ctx, cancel := context.WithTimeout(b.ctx, stepTimeout)
	defer cancel()
	x, y, err := middle(ctx, e)
	if err != nil {
		return err
	}
	aimed, err := aim(ctx, e, x, y)
	if err != nil {
		return err
	}

	if err := chromedp.Do(ctx, chromedp.MouseClickXY(x, y)); err != nil {
		return err
	}
	return hit(ctx, aimed)
}

// middle is the point of the window on which to click, after the page was scrolled to it.
func middle(ctx context.Context, e element) (x, y float64, err error) {
	if _, err := chromedp.Call(ctx, dom.ScrollIntoViewIfNeeded, dom.ScrollIntoViewIfNeededParams{ObjectID: e}); err != nil {
		return 0, 0, err
	}
	quads, err := chromedp.Call(ctx, dom.GetContentQuads, dom.GetContentQuadsParams{ObjectID: e})
	if err != nil {
		return 0, 0, err
	}
	if len(quads.Quads) == 0 {
		return 0, 0, errors.New("it has no place on the page")
	}

	q := quads.Quads[0]
	return (q[0] + q[2] + q[4] + q[6]) / 4, (q[1] + q[3] + q[5] + q[7]) / 4, nil
}

// guarded lets the next click of the mouse on a point pass to one element only; another above the
// point already, as a menu that still slides away, is waited for. A click that would reach anything
// else is held back, so that no button is pressed that slid under the mouse. The caller
// calls over() afterwards to learn what was in the way. Notices of before are marked, so that none
// is taken for the answer to this click.
const guarded = `function (x, y) {
	const node = this instanceof Element ? this : this.parentElement;
	const mine = (hit) => node.contains(hit) || hit?.closest?.("label")?.control === node;
	const named = (hit) => hit?.outerHTML?.slice(0, 200) ?? "nothing";
	const kinds = ["pointerdown", "mousedown", "pointerup", "mouseup", "click"];
	const above = document.elementFromPoint(x, y);
	if (!mine(above)) throw new Error(named(above) + " is above it");

	for (const notice of document.querySelectorAll(".toast")) notice.dataset.earlier = "";

	let clicked = false, inTheWay = "nothing";
	const look = (event) => {
		if (mine(event.target)) {
			clicked ||= event.type === "click";
			return;
		}
		inTheWay = named(event.target);
		event.preventDefault();
		event.stopImmediatePropagation();
	};
	for (const kind of kinds) window.addEventListener(kind, look, true);
	return { over() {
		for (const kind of kinds) window.removeEventListener(kind, look, true);
		return clicked ? "" : inTheWay;
	} };
}`

// aim guards an element against clicks on a point that miss it, until hit is asked.
func aim(ctx context.Context, e element, x, y float64) (runtime.RemoteObjectID, error) {
	point := []*runtime.CallArgument{{Value: []byte(fmt.Sprint(x))}, {Value: []byte(fmt.Sprint(y))}}
	guard, err := chromedp.Call(ctx, runtime.CallFunctionOn, runtime.CallFunctionOnParams{
		FunctionDeclaration: guarded, ObjectID: e, Arguments: point,
	})
	if err != nil {
		return "", err
	}
	if guard.ExceptionDetails != nil {
		return "", errors.New(guard.ExceptionDetails.Exception.Description)
	}
	return guard.Result.ObjectID, nil
}

// hit is an error when a click reached something else. Where the page of the guard is gone,
// the click has led away from it.
func hit(ctx context.Context, guard runtime.RemoteObjectID) error {
	answer, err := chromedp.Call(ctx, runtime.CallFunctionOn, runtime.CallFunctionOnParams{
		FunctionDeclaration: `function () { return this.over() }`, ObjectID: guard, ReturnByValue: new(true),
	})
	if err != nil {
		return ctx.Err()
	}
	if inTheWay := string(answer.Result.Value); inTheWay != `""` {
		return fmt.Errorf("the click reached %s", inTheWay)
	}
	return nil
}
