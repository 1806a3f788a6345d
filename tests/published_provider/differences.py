"""What the emulator answers otherwise than recorded, each with the reason. A name holds for all properties below it."""

from __future__ import annotations

ABSENT = {
    "clusterTelemetry": "in v1beta1 only; both versions show what v1 has",
    "protectConfig": "in v1beta1 only",
    "userManagedKeysConfig": "an empty block",
    "autoscaling.autoprovisioningNodePoolDefaults": "node auto-provisioning is not imitated",
    "privateCluster": "the older spelling of networkConfig.defaultEnablePrivateNodes",
    "privateClusterConfig": "the older spelling of controlPlaneEndpointsConfig, which the provider reads",
    "controlPlaneEndpointsConfig.ipEndpointsConfig.privateEndpoint": "an address where nothing listens",
    "controlPlaneEndpointsConfig.ipEndpointsConfig.publicEndpoint": "the same as endpoint",
    "controlPlaneEndpointsConfig.ipEndpointsConfig.authorizedNetworksConfig": "no default networks are shown",
    "masterAuthorizedNetworksConfig": "no default networks are shown",
    "maintenancePolicy.window.dailyMaintenanceWindow.duration": "computed from a window that the program does not use",
    "addonsConfig": "computed parts of add-ons that the program does not use",
    "subnetworks": "subnets that Google makes by itself are not imitated",
    "privateKey": "the mock shows a certificate's key; Google never does",
    "prefixes": "an empty list",
    "generation": "objects and their generations are not kept",
    "iamConfiguration": "defaults that no rule reads",
    "acl": "who may read an object is not imitated",
    "defaultObjectAcl": "the same",
    "owner": "the same",
    "enabledFeatures": "ciphers that follow from the profile; nothing reads them",
}
"""Recorded, and left out."""

ADDED = {
    "addonsConfig.istioConfig": "what was asked for is shown; GKE has removed the add-on",
    "autoscaling.defaultComputeClassConfig": "what was asked for is shown",
    "maintenancePolicy.window.maintenanceExclusions": "the first value of an enum is shown",
    "email": "the mock answers the creation of an account with its name only; GKE's clients read the rest",
    "oauth2ClientId": "the same",
    "projectId": "the same",
    "uniqueId": "the same",
    "etag": "of a node pool: in Google's documents, not in the mock",
    "locations": "of a node pool: in Google's documents, not in the mock",
    "nodePools": "the mock shows a cluster's first pool only, and as it was made",
    "expireTime": "of a certificate: in Google's documents, not in the mock",
    "type": "of a certificate: in Google's documents, not in the mock",
    "purpose": "of an internal address: in Google's documents, not in the mock",
    "region": "an SSL policy was recorded as a global one",
    "routingConfig": "of a network that comes with a project: not in the mock",
    "services": "the field mask is not applied",
    "softDeletePolicy.effectiveTime": "a constant",
    "version": "of a policy that nobody has written",
}
"""Not recorded, and shown."""

OTHER = {
    "addonsConfig.gcePersistentDiskCsiDriverConfig.enabled": "what was asked for is shown",
    "clusterIpv4Cidr": "a range of its own",
    "ipAllocationPolicy.clusterIpv4Cidr": "a range of its own",
    "ipAllocationPolicy.clusterIpv4CidrBlock": "a range of its own",
    "networkConfig.podIpv4CidrBlock": "a range of its own",
    "networkConfig.podRange": "GKE puts a number behind the name",
    "config.bootDisk.diskType": "the default disk of n4, which the program does not use",
    "config.diskType": "the default disk of n4, which the program does not use",
    "controlPlaneEndpointsConfig.dnsEndpointConfig.endpoint": "a name of its own",
    "currentMasterVersion": "the versions that the rules offer",
    "currentNodeVersion": "the versions that the rules offer",
    "initialClusterVersion": "the versions that the rules offer",
    "version": "the versions that the rules offer; of a policy: 3 is kept, as Google documents",
    "currentNodeCount": "every zone counts",
    "endpoint": "of a cluster without IP endpoints: a name of its own",
    "gatewayAddress": "the first address of the range; the mock shows a constant",
    "initialNodeCount": "that of the first pool in the alphabet",
    "instanceGroupUrls": "names with a hash",
    "locations": "of a regional cluster: its zones; the mock shows the region",
    "nodePools": "the mock shows a cluster's first pool only, and as it was made",
    "region": "a URL; the mock repeats what was sent",
    "selfLink": "v1 in both versions",
    "selfLinkWithId": "the number is not rewritten",
    "services": "all that are on; some recordings have another number of the project",
    "subnetwork": "a URL; the mock repeats what was sent",
}
"""Recorded with another value."""
