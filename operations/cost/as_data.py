"""The JSON of ``llmd-gke cost``: stable keys, amounts in USD, and null if there is no price."""

from __future__ import annotations

from collections.abc import Sequence

from llmd_gke.catalog import monitoring as catalogue
from llmd_gke.catalog.overhead import HOURS_PER_MONTH
from llmd_gke.catalog.zones import CLUSTER_FEE_USD_PER_HOUR, PRICES_AS_OF
from operations.cost.actual import PoolHours, fee, total
from operations.cost.estimate import NOT_INCLUDED, STATES, Amount, StackPrice, State
from operations.cost.monitoring import MonitoringPrice
from operations.printing import as_data

Data = dict[str, object]


def price(stack_price: StackPrice) -> Data:
    """A stack's price."""
    system = stack_price.system_pool
    return {
        "stack": stack_price.stack,
        "currency": "USD",
        "pricesAsOf": PRICES_AS_OF,
        "hoursPerMonth": HOURS_PER_MONTH,
        "pools": [
            {**{key: value for key, value in as_data(pool).items() if key != "amounts"}, **_states(pool.amounts)}
            for pool in stack_price.pools
        ],
        "models": [
            {"name": one.name, "weightsGb": one.weights_gb, "sizeKnown": one.is_exact, "hbmGb": one.hbm_gb}
            for one in stack_price.models
        ],
        "systemPool": {"machineType": system.machine_type, "minNodes": system.min_nodes, "maxNodes": system.max_nodes},
        "clusterFeeUsdPerHour": CLUSTER_FEE_USD_PER_HOUR,
        "totals": _states(stack_price.totals),
        "besides": {
            "leastUsdPerHour": stack_price.besides.least.usd_per_hour,
            "mostUsdPerHour": stack_price.besides.most.usd_per_hour,
            "systemNodesPriced": stack_price.besides.most.system_nodes is not None,
            "budgetUsdPerHour": stack_price.besides.limit_usd_per_hour,
        },
        "cloudArmor": stack_price.armor and as_data(stack_price.armor),
        "monitoring": _monitoring(stack_price.monitoring),
        "logs": [
            {
                "model": one.model,
                "gibPerReplicaAndMonth": round(one.gib_per_month, 2),
                "usdPerReplicaAndMonth": round(one.gib_per_month * catalogue.USD_PER_GIB_OF_LOGS, 2),
            }
            for one in stack_price.logs
        ],
        "notIncluded": list(NOT_INCLUDED),
    }


def comparison(before: StackPrice | None, after: StackPrice | None, revision: str) -> Data:
    """Two prices of a stack, and the difference of the totals (null if either has no price)."""
    change = None
    if before is not None and after is not None:
        change = {state: _change(before.totals[state], after.totals[state]) for state in STATES}
    return {
        "against": revision,
        "before": None if before is None else price(before),
        "after": None if after is None else price(after),
        "change": change,
    }


def _states(amounts: dict[State, Amount]) -> Data:
    return {
        state: {
            "nodes": amount.nodes,
            "chips": amount.chips,
            "usdPerHour": amount.usd_per_hour,
            "usdPerMonth": None if amount.usd_per_month is None else round(amount.usd_per_month, 2),
        }
        for state, amount in amounts.items()
    }


def _monitoring(price: MonitoringPrice) -> Data:
    return {
        "samplesPerMonth": price.samples,
        "alertConditions": price.conditions,
        "uptimeExecutionsPerMonth": price.uptime_executions,
        "usdPerMonth": round(price.usd_per_month, 2),
        "alertsUsdPerMonthLater": round(price.alerts_usd_per_month, 2),
        "usdPerMillionSpans": price.usd_per_million_spans,
        "pricesAsOf": catalogue.PRICES_AS_OF,
    }


def _change(before: Amount, after: Amount) -> Data:
    comparable = before.usd_per_hour is not None and after.usd_per_hour is not None
    return {
        "nodes": after.nodes - before.nodes,
        "chips": after.chips - before.chips,
        "usdPerHour": round((after.usd_per_hour or 0.0) - (before.usd_per_hour or 0.0), 4) if comparable else None,
    }


def actual(stack: str, days: float, rows: Sequence[PoolHours], notes: Sequence[str]) -> Data:
    """Node hours of the last days and their price."""
    seconds = days * 86400
    whole = total(rows, seconds)
    return {
        "stack": stack,
        "days": days,
        "currency": "USD",
        "pricesAsOf": PRICES_AS_OF,
        "pools": [
            {
                "name": row.name,
                "nodeHours": round(row.node_hours, 2),
                "chipHours": round(row.node_hours * row.chips, 2),
                "usd": None if row.usd is None else round(row.usd, 2),
                "open": row.open,
            }
            for row in rows
        ],
        "clusterFeeUsd": round(fee(seconds), 2),
        "usd": None if whole is None else round(whole, 2),
        "notes": list(notes),
    }
