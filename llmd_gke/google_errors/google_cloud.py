"""Errors of Google's APIs and of the provider that calls them."""

from __future__ import annotations

from llmd_gke.google_errors.capacity import CAPACITY
from llmd_gke.google_errors.entry import IMPORT, GoogleError

SIGN_IN = GoogleError(
    "sign-in",
    "`googleapi: Error 401`, `invalid_grant`, `could not find default credentials`, `insufficient authentication "
    "scopes`; from the cluster `Unauthorized`, `You must be logged in to the server`, `asked for the client to provide "
    "credentials`, `gke-gcloud-auth-plugin failed with exit code 1`",
    r"googleapi: Error 401|invalid authentication credentials|invalid_grant|invalid_rapt|oauth2: .*expired|"
    r"token has been expired or revoked|could not find default credentials|load application default credentials|"
    r"reauthenticat|insufficient authentication scopes|"
    r"(getting credentials|cluster is unreachable): [^\n]*exit (code|status)|"
    r"asked for the client to provide credentials|you must be logged in to the server|"
    r"(\A|error: |server: |unreachable: )unauthorized\W*\Z",
    "the credentials have expired, are missing, lack a scope, or are those of another account",
    "`gcloud auth login --update-adc`, then try again",
)

REFUSALS = (
    GoogleError(
        "service-perimeter",
        "`Request is prohibited by organization's policy. vpcServiceControlsUniqueIdentifier: …`",
        r"vpcServiceControls|VPC_SERVICE_CONTROLS|SECURITY_POLICY_VIOLATED|VPC Service Controls",
        "a service perimeter (VPC Service Controls) of the organization does not admit this account, machine or API",
        "give the identifier in the message to the administrators of the perimeter: it shows them what to admit",
    ),
    GoogleError(
        "organization-policy",
        "`Constraint constraints/… violated`, `… organization policy`",
        r"constraints/\w|constraint '?\w+\.\w+'? violated|\borg(anization)?\s+polic(y|ies)(?! API)|"
        r"to a permitted customer",
        "a policy of the organization forbids it",
        "ask the organization's administrators for an exception from the constraint that the message names, or change "
        "the setting that violates it, then try again",
    ),
    *CAPACITY,
    GoogleError(
        "credentials-file",
        "`error getting credentials using GOOGLE_APPLICATION_CREDENTIALS environment variable`",
        r"using GOOGLE_APPLICATION_CREDENTIALS",
        "this variable, which comes before every login, names a file that is missing or has no credentials",
        "`unset GOOGLE_APPLICATION_CREDENTIALS`, or correct its path, then try again",
    ),
    SIGN_IN,
    # The reason in this message is SERVICE_DISABLED, too. The numbers are the projects of gcloud's own clients.
    GoogleError(
        "quota-project",
        "`… API requires a quota project`, `… API has not been used in project 764086051850`",
        r"requires a quota project|quota_project|end user credentials|projects?[ /](764086051850|32555940559)\b",
        "the application default credentials name no project whose quota the requests count against",
        "`gcloud auth application-default set-quota-project PROJECT`, then try again",
    ),
    GoogleError(
        "billing",
        "`… requires billing to be enabled`, `BILLING_DISABLED`",
        r"BILLING_DISABLED|requires? billing to be enabled|billing account .{0,80}(disabled|absent|closed)|"
        r"accountDisabled|Billing must be enabled",
        "the project has no billing account, or that account is closed",
        "`gcloud billing projects link PROJECT --billing-account ACCOUNT`, then try again after some minutes",
    ),
    GoogleError(
        "api-disabled",
        "`SERVICE_DISABLED`, `accessNotConfigured`, `… API has not been used in project … before or it is disabled`",
        r"SERVICE_DISABLED|accessNotConfigured|has not been used in project",
        "the API is disabled, or was enabled a moment ago and not all of Google's servers accept it yet; a first "
        "update has already waited five minutes for that",
        "wait a few minutes, then try again",
    ),
    GoogleError(
        "service-agent",
        "`Kubernetes Engine Service Agent is missing required permissions`, `Google Compute Engine: Required '…' "
        "permission`",
        r"service agent is missing required permissions|robot service account is missing|hostServiceAgent|"
        r"Google Compute Engine: Required '[\w.]+' permission",
        "GKE's own service account, or the account that runs the update, lacks the permission in the project that the "
        "message names: the role was removed, or that project shares the VPC and has not granted it yet",
        "`llmd-gke doctor --stack {stack}` tells whether your account has it. GKE's is "
        "`service-PROJECT_NUMBER@container-engine-robot.iam.gserviceaccount.com`: grant it "
        "`roles/container.serviceAgent` in the stack's project, and in a host project what docs/network.md lists. Then "
        "try again",
    ),
    GoogleError(
        "permission",
        "`Required \"…\" permission`, `Permission '…' denied`, `The caller does not have permission`, `… is forbidden: "
        'User "…" cannot …`',
        r"Required ['\"]?[a-z]\w*\.[\w.]+['\"]? permission|permission ['\"]?[a-z]\w*\.[\w.]+['\"]? denied|"
        r"permissions? denied on (resource|')|impersonated credentials|project \S+ not found or deleted|"
        r"not have (the )?(required )?([\w.]+ )?permission|IAM_PERMISSION_DENIED|"
        r"USER_PROJECT_DENIED|insufficientPermissions|does not have access to service account|"
        r"does not have [\w.]+ access to the Google Cloud|\bforbidden: User \"(?!system:)[^\"]+\" cannot |"
        r"attempting to grant RBAC permissions not currently held",
        "the account that runs the update lacks the permission in the message, or what the message names does not "
        "exist",
        "`llmd-gke doctor --stack {stack}` lists missing permissions and the roles that have them: ask an owner of the "
        "project for those. `gcloud auth list` shows the account",
    ),
    GoogleError(
        "version",
        '`Master version … is unsupported`, `… must be one of "…" channel supported versions`, `No valid versions '
        "with the prefix`",
        r"No valid versions with the prefix|(master|node|control plane) version .{0,60}"
        r"(is (unsupported|not supported|not available)|must (be (one of|set to)|not be higher))|"
        r"channel supported versions",
        "GKE does not offer this version in the stack's release channel and location, or no longer",
        "set `cluster.minVersion` to a version that GKE offers, or another `releaseChannel`: `gcloud container "
        "get-server-config --location LOCATION` lists them",
    ),
    GoogleError(
        "authorized-network",
        "`Invalid master authorized networks: … is not a reserved network`",
        r"is not a reserved network|invalid master authorized networks",
        "GKE does not accept an authorized network: for a private endpoint it takes only private ranges",
        "correct `cluster.authorizedNetworks`, then try again",
    ),
)

CONFLICTS = (
    # Updates that replace something fail like this, and destroys: the fix has to suit both.
    GoogleError(
        "in-use",
        "`… is already being used by …`",
        r"already being used by|resourceInUse|IN_USE_BY_ANOTHER_RESOURCE",
        "another resource, which the message names, still uses it; load balancers, groups and rules of GKE's "
        "controllers follow their Gateway or cluster some minutes later",
        "detach it from that resource, or wait until GKE has moved or deleted that, then run the same command again",
    ),
    GoogleError(
        "secondary-range",
        "`Existing secondary range cannot be modified`, `Cannot add and remove secondary IP ranges`",
        r"secondary (ip )?ranges? (cannot be modified|in the same request)",
        "a secondary range of a subnet never changes",
        "set the range that the subnet has again; another one takes another stack with another `cluster.name`",
    ),
    GoogleError(
        "other-operation",
        "`Operation … is currently upgrading cluster …`, `Cluster is running incompatible operation …`",
        r"is currently \w+ing (the |a )?(cluster|node ?pool)|running incompatible operation|"
        r"cluster is currently being (created|deleted|updated|upgraded|repaired)",
        "GKE executes another operation on the cluster, such as an upgrade of its own, for longer than the provider "
        "waits",
        "wait until `gcloud container operations list --location LOCATION --filter status=RUNNING` lists none, then "
        "try again",
    ),
    GoogleError(
        "exists",
        "`googleapi: Error 409: … already exists`",
        r"googleapi: Error 409: .*already exists|resource - \S+ - already exists|previous request to create the named "
        r"bucket succeeded|requested bucket name is not available",
        "a resource of that name exists that the stack does not manage: created by hand, by another stack or "
        "project, or by a request whose response was lost",
        "import it with `pulumi import`, use another name, or delete it if nothing else uses it",
    ),
    GoogleError(
        "other-change",
        "`concurrent changes`, `Invalid fingerprint`, `resourceNotReady`",
        r"googleapi: Error 409: .*(concurrent|\baborted\b|etag|in progress|being (created|deleted|modified|updated))|"
        r"googleapi: Error 412: .*(fingerprint|etag|condition)|resourceNotReady",
        "another change of the same resource was in progress",
        "try again",
    ),
    GoogleError(
        "rejected",
        "`googleapi: Error 429`, `Error 503`, `rateLimitExceeded`",
        r"googleapi: Error (429|50[0-4])|rateLimitExceeded|RATE_LIMIT_EXCEEDED|backendError",
        "Google rejected requests temporarily, for longer than the provider retries",
        "wait a few minutes, then try again",
    ),
    GoogleError(
        "connection-to-google",
        "`googleapis.com/…: EOF`, `connection reset`",
        r"googleapis\.com[^\n]*(\bEOF\b|connection reset|broken pipe|connection refused|i/o timeout|no such host)",
        "the connection to Google was lost; the resource may have been created nevertheless",
        IMPORT,
    ),
)

OTHERS = (
    GoogleError(
        "no-update",
        "`doesn't support update`",
        r"doesn't support update",
        "Google created the resource, for example a role of an account, and the provider could not read it after that. "
        "It is in the state with an error, and the engine tries an update, which the provider does not have for it",
        "`pulumi refresh --stack {stack}` reads it, then try again",
    ),
    GoogleError(
        "not-found",
        "`googleapi: Error 404`, `got HTTP response code 404`",
        r"googleapi: (Error|got HTTP response code) 404",
        "Google does not have the resource, or another one that it refers to: a name in the stack file is wrong, it "
        "was deleted by hand, or the provider created it and lost its name after an earlier error",
        "if the stack file names it (project, existing network, bucket, key), correct that. Otherwise "
        f"`pulumi refresh --stack {{stack}}`, then {IMPORT}",
    ),
    GoogleError(
        "nodes-not-registered",
        "`only 0 nodes out of 1 have registered`",
        r"nodes? out of \d+ have registered|nodes failed to register",
        "nodes started, but could not reach the control plane: the existing network has no Private Google Access, NAT "
        "or route, or a firewall blocks them",
        "compare the network with docs/network.md; `gcloud compute instances get-serial-port-output NODE --zone ZONE` "
        "shows what the node waits for. Then try again",
    ),
    GoogleError(
        "internal-error",
        "`internal error`",
        r"\binternal error\b(?! occurred)",  # "Internal error occurred: " comes from a Kubernetes API server
        "Google accepted the request, but its own service failed while executing it",
        "wait a few minutes, then try again; if it fails again, report it to Google with the time and the resource",
    ),
    GoogleError(
        "operation-failed",
        "`Error waiting for …`, `Error waiting to create …`",
        r"Error (while )?waiting (for|to) ",
        "Google accepted the request but failed later, for the reason in the message",
        "fix the cause that the message names",
    ),
)
