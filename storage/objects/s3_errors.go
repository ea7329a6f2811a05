package objects

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/smithy-go"
)

// Explain puts an error of another client of the storage at a URL into words.
func Explain(address string, err error) error {
	p, badURL := parse(address)
	if badURL != nil || p.dir != "" {
		return explainDisk(err)
	}
	return (&bucket{place: p}).explain(err)
}

// explain puts an error of the SDK into words. Its text names a request by method, attempt
// and id, and what is wrong only at the end.
func (b *bucket) explain(err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, context.Canceled) {
		return context.Canceled
	}

	if words := b.explainCode(err); words != nil {
		return words
	}

	where := cmp.Or(b.endpoint, "Amazon S3")
	timeout, isNet := errors.AsType[net.Error](err)
	op, isOp := errors.AsType[*net.OpError](err)
	switch {
	case errors.Is(err, context.DeadlineExceeded), isNet && timeout.Timeout():
		return fmt.Errorf("%s did not answer in time", where)
	case isOp && op.Op == "dial":
		return fmt.Errorf("%s cannot be reached: %w", where, rootOf(err))
	}
	return fmt.Errorf("%s: %w", where, rootOf(err))
}

// explainCode explains a refusal by its code or its status; nil if there was none.
func (b *bucket) explainCode(err error) error {
	code, status := "", 0
	if refusal, ok := errors.AsType[smithy.APIError](err); ok {
		code = refusal.ErrorCode()
	}
	if response, ok := errors.AsType[*awshttp.ResponseError](err); ok {
		status = response.HTTPStatusCode()
	}

	switch code {
	case "NoSuchBucket":
		return fmt.Errorf("there is no bucket %q", b.bucket)
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "ExpiredToken":
		return fmt.Errorf("the storage refuses the access key (%s)", code)
	case "RequestTimeTooSkewed":
		return errors.New("this machine's clock differs too much from the storage's")
	case "PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException":
		return fmt.Errorf("the bucket %q is in another region (%s)", b.bucket, code)
	case "XMinioStorageFull", "QuotaExceeded", "InsufficientStorage":
		return fmt.Errorf("the storage is full (%s)", code)
	case "NoSuchKey", "NotFound":
		return ErrNotFound
	case "PreconditionFailed", "ConditionalRequestConflict":
		return ErrChanged
	}

	switch status {
	case 0:
		return nil
	case http.StatusNotFound:
		return ErrNotFound
	case http.StatusPreconditionFailed:
		return ErrChanged
	case http.StatusInsufficientStorage:
		return errors.New("the storage is full")
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("the access key may not do this in the bucket %q (%s)", b.bucket, cmp.Or(code, fmt.Sprint(status)))
	}
	if code != "" {
		return fmt.Errorf("the storage answered %d (%s)", status, code)
	}
	return nil
}

// rootOf is the innermost error, which says what went wrong.
func rootOf(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
