// The endpoint picker of the Gateway API Inference Extension with one plugin more, which lets the extension's
// concurrency-detector see the requests in flight.
//
// In v1.5.0 inflight-load-producer counts them, but writes its count to copies of the endpoints (scheduling/types.go,
// NewEndpoint), whereas the detector reads the endpoints themselves, and sees none. The plugin here is that producer,
// whose count is read from each endpoint when it is asked for, as that of llm-d-router v0.9.0 is (DynamicAttribute).
package main

import (
	"context"
	"encoding/json"
	"os"
	"reflect"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/gateway-api-inference-extension/cmd/epp/runner"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/framework/interface/datalayer"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/framework/interface/plugin"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/framework/interface/scheduling"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/framework/plugins/datalayer/attribute/concurrency"
	"sigs.k8s.io/gateway-api-inference-extension/pkg/epp/framework/plugins/requestcontrol/requestdataproducer/inflightload"
)

// kind is the type of the plugin in an EndpointPickerConfig.
const kind = "endpoint-inflight-load-producer"

// producer counts as the extension's, which it contains.
type producer struct {
	*inflightload.InFlightLoadProducer
}

var _ datalayer.EndpointExtractor = &producer{}

func create(name string, parameters json.RawMessage, handle plugin.Handle) (plugin.Plugin, error) {
	made, err := inflightload.InFlightLoadProducerFactory(name, parameters, handle)
	if err != nil {
		return nil, err
	}
	return &producer{made.(*inflightload.InFlightLoadProducer)}, nil
}

// TypedName says the type under which this plugin is registered.
func (p *producer) TypedName() plugin.TypedName {
	return plugin.TypedName{Type: kind, Name: p.InFlightLoadProducer.TypedName().Name}
}

// ExpectedInputType is what endpoint-notification-source sends.
func (p *producer) ExpectedInputType() reflect.Type {
	return datalayer.EndpointEventReflectType
}

// ExtractEndpoint gives a new endpoint its count, and forgets that of a removed one.
func (p *producer) ExtractEndpoint(_ context.Context, event datalayer.EndpointEvent) error {
	pod := event.Endpoint.GetMetadata()
	if event.Type == datalayer.EventDelete {
		p.DeleteEndpoint(pod.NamespacedName.String())
		return nil
	}
	event.Endpoint.GetAttributes().Put(concurrency.InFlightLoadKey, &current{p.InFlightLoadProducer, pod})
	return nil
}

// current is the count of one endpoint. An attribute is cloned when it is read (attributemap.go, Get).
type current struct {
	counts *inflightload.InFlightLoadProducer
	pod    *datalayer.EndpointMetadata
}

// Clone is the count now, as the extension's producer writes it.
func (c *current) Clone() datalayer.Cloneable {
	copied := scheduling.NewEndpoint(c.pod, nil, nil)
	if err := c.counts.PrepareRequestData(context.Background(), nil, []scheduling.Endpoint{copied}); err == nil {
		if load, ok := copied.Get(concurrency.InFlightLoadKey); ok {
			return load
		}
	}
	return &concurrency.InFlightLoad{}
}

func main() {
	plugin.Register(kind, create)
	if err := runner.NewRunner().Run(ctrl.SetupSignalHandler()); err != nil {
		os.Exit(1)
	}
}
