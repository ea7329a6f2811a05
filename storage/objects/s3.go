package objects

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

const (
	// dialTimeout limits connecting, and answerTimeout the wait for an answer after the request.
	dialTimeout   = 5 * time.Second
	answerTimeout = 15 * time.Second
	// callTimeout limits a call with all its attempts, but for the bytes of an object: they
	// get a second more for each slowestRate of them.
	callTimeout = 20 * time.Second
	slowestRate = 1 << 20
	// readTimeout limits reading an object, whose size is only known with the answer.
	readTimeout = 2 * time.Minute
	// attempts is how often a call is tried, and longestPause how long it waits between.
	attempts     = 3
	longestPause = time.Second
	// defaultRegion is for storage that has none, where the usual variables name none either.
	defaultRegion = "us-east-1"
	// maxIdle is how many connections are kept open.
	maxIdle = 32
)

type bucket struct {
	place
	client *s3.Client
}

// openS3 makes a client. Checksums are sent and expected only where the protocol requires
// them: many storages that speak S3 refuse those that the SDK would add by itself.
func openS3(p place, keys Credentials) (*bucket, error) {
	options := []func(*config.LoadOptions) error{
		config.WithHTTPClient(newHTTPClient()),
		config.WithRequestChecksumCalculation(aws.RequestChecksumCalculationWhenRequired),
		config.WithResponseChecksumValidation(aws.ResponseChecksumValidationWhenRequired),
		config.WithRetryer(func() aws.Retryer {
			return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxAttempts, o.MaxBackoff = attempts, longestPause })
		}),
	}
	if p.region != "" {
		options = append(options, config.WithRegion(p.region))
	}
	if keys.AccessKeyID != "" {
		options = append(options, config.WithCredentialsProvider(
			credentials.NewStaticCredentialsProvider(keys.AccessKeyID, keys.SecretAccessKey, "")))
	}

	ctx, cancel := context.WithTimeout(context.Background(), callTimeout)
	defer cancel()
	settings, err := config.LoadDefaultConfig(ctx, options...)
	if err != nil {
		return nil, err
	}

	settings.Region = cmp.Or(settings.Region, defaultRegion)
	return &bucket{p, s3.NewFromConfig(settings, func(o *s3.Options) {
		o.UsePathStyle = p.pathStyle
		if p.endpoint != "" {
			o.BaseEndpoint = &p.endpoint
		}
	})}, nil
}

func newHTTPClient() *awshttp.BuildableClient {
	return awshttp.NewBuildableClient().
		WithDialerOptions(func(d *net.Dialer) { d.Timeout = dialTimeout }).
		WithTransportOptions(func(t *http.Transport) {
			t.TLSHandshakeTimeout, t.ResponseHeaderTimeout = dialTimeout, answerTimeout
			t.MaxIdleConns, t.MaxIdleConnsPerHost = maxIdle, maxIdle
		})
}

func (b *bucket) key(key string) *string { return aws.String(b.prefix + key) }

// Put implements Store.
func (b *bucket) Put(ctx context.Context, key string, content io.ReadSeeker, size int64) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout+time.Duration(size/slowestRate)*time.Second)
	defer cancel()

	_, err := b.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &b.bucket, Key: b.key(key), Body: content, ContentLength: &size})
	return b.explain(err)
}

// PutIf implements Store.
func (b *bucket) PutIf(ctx context.Context, key string, content []byte, version string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()

	in := &s3.PutObjectInput{
		Bucket: &b.bucket, Key: b.key(key),
		Body: bytes.NewReader(content), ContentLength: aws.Int64(int64(len(content))),
	}
	if version == "" {
		in.IfNoneMatch = aws.String("*")
	} else {
		in.IfMatch = &version
	}

	out, err := b.client.PutObject(ctx, in)
	err = b.explain(err)
	switch {
	case err == nil:
		return aws.ToString(out.ETag), nil
	case errors.Is(err, ErrNotFound): // what some say when the version is of an object that is gone
		return "", ErrChanged
	case !errors.Is(err, ErrChanged):
		return "", err
	}

	// An attempt whose answer was lost may have written it: then its content is ours.
	same, written, err := hasContent(ctx, b, key, content)
	if errors.Is(err, ErrNotFound) || err == nil && !same {
		err = ErrChanged
	}
	return written, err
}

// Get implements Store.
func (b *bucket) Get(ctx context.Context, key string) (io.ReadCloser, Object, error) {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	unanswered := time.AfterFunc(callTimeout, cancel)
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.bucket, Key: b.key(key)})
	if !unanswered.Stop() {
		err = context.DeadlineExceeded
	}
	if err != nil {
		cancel()
		return nil, Object{}, b.explain(err)
	}

	o := Object{key, aws.ToInt64(out.ContentLength), aws.ToTime(out.LastModified), aws.ToString(out.ETag)}
	return &body{out.Body, b, cancel}, o, nil
}

type body struct {
	io.ReadCloser
	from   *bucket
	cancel context.CancelFunc
}

func (r *body) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = r.from.explain(err)
	}
	return n, err
}

func (r *body) Close() error {
	defer r.cancel()
	return r.ReadCloser.Close()
}

// Stat implements Store.
func (b *bucket) Stat(ctx context.Context, key string) (Object, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()

	out, err := b.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &b.bucket, Key: b.key(key)})
	if err != nil {
		return Object{}, b.explain(err)
	}
	return Object{key, aws.ToInt64(out.ContentLength), aws.ToTime(out.LastModified), aws.ToString(out.ETag)}, nil
}

// Delete implements Store.
func (b *bucket) Delete(ctx context.Context, key string) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()

	_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.bucket, Key: b.key(key)})
	if err = b.explain(err); errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// List implements Store.
func (b *bucket) List(ctx context.Context, prefix string, fn func(Object) error) error {
	pages := s3.NewListObjectsV2Paginator(b.client, &s3.ListObjectsV2Input{Bucket: &b.bucket, Prefix: b.key(prefix)})
	for pages.HasMorePages() {
		page, err := b.nextPage(ctx, pages)
		if err != nil {
			return err
		}

		for _, o := range page.Contents {
			key := strings.TrimPrefix(aws.ToString(o.Key), b.prefix)
			if err := fn(Object{Key: key, Size: aws.ToInt64(o.Size), Modified: aws.ToTime(o.LastModified)}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *bucket) nextPage(ctx context.Context, pages *s3.ListObjectsV2Paginator) (*s3.ListObjectsV2Output, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	page, err := pages.NextPage(ctx)
	return page, b.explain(err)
}
