"""The services of rosapi that clients of rosbridge use: what there is, of which type, and parameters."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from cellwright.core.errors import BadInput
from cellwright.interfaces.ros.plain import PlainMessages
from cellwright.interfaces.ros.types import RosTypes

__all__ = ["ROSAPI", "GraphView", "RosApi", "resolved"]

NODE, SERVER = "/cellwright", "/rosbridge_websocket"
MAX_PARAMETERS, MAX_NAME, MAX_VALUE = 1000, 256, 2**16
EXAMPLES = {"string": "", "bool": "False", "float32": "0.0", "float64": "0.0", "time": "{}", "duration": "{}"}


class GraphView(Protocol):
    """The part of a graph that rosapi tells."""

    types: RosTypes
    parameters: dict[str, Any]
    time_ns: int

    def topic_types(self) -> dict[str, str]:
        """Returns all topics and their types."""

    def service_types(self) -> dict[str, str]:
        """Returns all services and their types."""

    def publishers(self, topic: str) -> list[str]:
        """Returns the nodes that publish a topic."""

    def subscribers(self, topic: str) -> list[str]:
        """Returns the nodes that subscribe to a topic."""

    def provider(self, service: str) -> str:
        """Returns the node that offers a service; empty when none does."""


class _Api(NamedTuple):
    """A service: the name of its type, the names of its request's fields, and the method that answers."""

    type_name: str
    fields: tuple[str, ...]
    answer: Callable[[RosApi, PlainMessages, dict[str, Any]], dict[str, Any]]


def resolved(name: Any) -> str:
    """Returns a name as ROS has it, with a slash before it."""
    text = str(name)
    return text if text.startswith("/") else f"/{text}"


class RosApi:
    """Answers what clients ask about a graph.

    Args:
        graph: The graph.
    """

    def __init__(self, graph: GraphView) -> None:
        self._graph = graph

    def answer(self, service: str, plain: PlainMessages, arguments: Any) -> dict[str, Any]:
        """Returns the response of a service of `ROSAPI`.

        Args:
            service: Its name.
            plain: Messages as the asking client names them.
            arguments: Its fields by name, or their values in order.

        Raises:
            BadInput: The request is none.
        """
        api = ROSAPI[service]
        if isinstance(arguments, list):
            arguments = dict(zip(api.fields, arguments, strict=False))
        if not isinstance(arguments, Mapping):
            raise BadInput(f"{service}: args is an object or a list")
        if unknown := set(map(str, arguments)) - set(api.fields):
            known = ", ".join(api.fields) or "none"
            raise BadInput(f"{service} has no field '{min(unknown)[:60]}'; fields: {known}")
        request = {field: arguments.get(field, "") for field in api.fields}
        for field, value in request.items():
            if not isinstance(value, str):
                raise BadInput(f"{service}: {field} is text")
        return api.answer(self, plain, request)

    # ------------------------------------------------------------ topics

    def _topics(self, plain: PlainMessages, _: dict[str, Any]) -> dict[str, Any]:
        topics = sorted(self._graph.topic_types().items())
        return {"topics": [topic for topic, _ in topics], "types": [plain.name(ros_type) for _, ros_type in topics]}

    def _topics_and_raw_types(self, plain: PlainMessages, _: dict[str, Any]) -> dict[str, Any]:
        types = dict(sorted(self._graph.topic_types().items())).values()
        texts = [plain.text(ros_type) for ros_type in types]
        return {**self._topics(plain, {}), "typedefs_full_text": texts}

    def _topic_type(self, plain: PlainMessages, request: dict[str, Any]) -> dict[str, Any]:
        ros_type = self._graph.topic_types().get(resolved(request["topic"]))
        return {"type": "" if ros_type is None else plain.name(ros_type)}

    def _topics_for_type(self, plain: PlainMessages, request: dict[str, Any]) -> dict[str, Any]:
        wanted = plain.known(request["type"])
        return {"topics": sorted(topic for topic, own in self._graph.topic_types().items() if own == wanted)}

    def _publishers(self, _: PlainMessages, request: dict[str, Any]) -> dict[str, Any]:
        return {"publishers": self._graph.publishers(resolved(request["topic"]))}

    def _subscribers(self, _: PlainMessages, request: dict[str, Any]) -> dict[str, Any]:
        return {"subscribers": self._graph.subscribers(resolved(request["topic"]))}

    # ------------------------------------------------------------ services

    def _services(self, _: PlainMessages, __: dict[str, Any]) -> dict[str, Any]:
        return {"services": sorted(self._graph.service_types())}

    def _service_type(self, plain: PlainMessages, request: dict[str, Any]) -> dict[str, Any]:
        service_type = self._graph.service_types().get(resolved(request["service"]))
        return {"type": "" if service_type is None else plain.name(service_type)}

    def _services_for_type(self, plain: PlainMessages, request: dict[str, Any]) -> dict[str, Any]:
        named = self._graph.service_types().items()
        return {"services": sorted(name for name, own in named if request["type"] in (own, plain.name(own)))}

    def _service_node(self, _: PlainMessages, request: dict[str, Any]) -> dict[str, Any]:
        return {"node": self._graph.provider(resolved(request["service"]))}

    def _service_providers(self, _: PlainMessages, request: dict[str, Any]) -> dict[str, Any]:
        provider = self._graph.provider(resolved(request["service"]))
        return {"providers": [provider] if provider else []}

    # ------------------------------------------------------------ nodes

    def _nodes(self, _: PlainMessages, __: dict[str, Any]) -> dict[str, Any]:
        return {"nodes": [NODE, SERVER]}

    def _node_details(self, _: PlainMessages, request: dict[str, Any]) -> dict[str, Any]:
        node, graph = resolved(request["node"]), self._graph
        topics = sorted(graph.topic_types())
        return {
            "subscribing": [topic for topic in topics if node in graph.subscribers(topic)],
            "publishing": [topic for topic in topics if node in graph.publishers(topic)],
            "services": sorted(service for service in graph.service_types() if graph.provider(service) == node),
        }

    # ------------------------------------------------------------ types

    def _message_details(self, plain: PlainMessages, request: dict[str, Any]) -> dict[str, Any]:
        return {"typedefs": self._typedefs(plain, plain.known(request["type"]))}

    def _request_details(self, plain: PlainMessages, request: dict[str, Any]) -> dict[str, Any]:
        return {"typedefs": self._half(plain, request["type"], 0)}

    def _response_details(self, plain: PlainMessages, request: dict[str, Any]) -> dict[str, Any]:
        return {"typedefs": self._half(plain, request["type"], 1)}

    def _half(self, plain: PlainMessages, service_type: str, half: int) -> list[dict[str, Any]]:
        """Returns the type definitions of one half of a service type."""
        ros_type = self._graph.types.service(service_type)[half]
        if ros_type not in self._graph.types.store.fielddefs:
            raise BadInput(f"there is no service type '{service_type[:60]}'")
        return self._typedefs(plain, ros_type)

    def _typedefs(self, plain: PlainMessages, ros_type: str) -> list[dict[str, Any]]:
        """Returns the definition of a type, and after it those of the types in it."""
        found: dict[str, dict[str, Any]] = {}
        waiting = [ros_type]
        while waiting:
            one = waiting.pop(0)
            if one in found:
                continue
            fields, constants = plain.fields(one), plain.constants(one)
            found[one] = {
                "type": plain.name(one),
                "fieldnames": [field.name for field in fields],
                "fieldtypes": [field.type_name for field in fields],
                "fieldarraylen": [field.length for field in fields],
                "examples": [_example(field.type_name, field.length) for field in fields],
                "constnames": [name for name, _ in constants],
                "constvalues": [value for _, value in constants],
            }
            waiting += [plain.known(field.type_name) for field in fields if "/" in field.type_name]
        return list(found.values())

    # ------------------------------------------------------------ parameters and time

    def _get_param(self, _: PlainMessages, request: dict[str, Any]) -> dict[str, Any]:
        name = resolved(request["name"])
        if name not in self._graph.parameters and request["default"]:
            return {"value": request["default"]}
        return {"value": json.dumps(self._graph.parameters.get(name))}

    def _set_param(self, _: PlainMessages, request: dict[str, Any]) -> dict[str, Any]:
        name, text, parameters = resolved(request["name"]), request["value"], self._graph.parameters
        if len(name) > MAX_NAME or len(text) > MAX_VALUE:
            raise BadInput(f"the name of a parameter has at most {MAX_NAME} letters, its value {MAX_VALUE}")
        if name not in parameters and len(parameters) >= MAX_PARAMETERS:
            raise BadInput(f"there are at most {MAX_PARAMETERS} parameters")
        try:
            parameters[name] = json.loads(text)
        except (ValueError, RecursionError):
            raise BadInput("the value of a parameter is JSON") from None
        return {}

    def _delete_param(self, _: PlainMessages, request: dict[str, Any]) -> dict[str, Any]:
        self._graph.parameters.pop(resolved(request["name"]), None)
        return {}

    def _has_param(self, _: PlainMessages, request: dict[str, Any]) -> dict[str, Any]:
        return {"exists": resolved(request["name"]) in self._graph.parameters}

    def _get_param_names(self, _: PlainMessages, __: dict[str, Any]) -> dict[str, Any]:
        return {"names": sorted(self._graph.parameters)}

    def _get_time(self, plain: PlainMessages, _: dict[str, Any]) -> dict[str, Any]:
        return {"time": plain.time(self._graph.time_ns)}

    def _action_servers(self, _: PlainMessages, __: dict[str, Any]) -> dict[str, Any]:
        return {"action_servers": []}


def _example(type_name: str, length: int) -> str:
    if length >= 0:
        return "[]"
    return "{}" if "/" in type_name else EXAMPLES.get(type_name, "0")


ROSAPI: dict[str, _Api] = {
    "/rosapi/topics": _Api("Topics", (), RosApi._topics),
    "/rosapi/topics_and_raw_types": _Api("TopicsAndRawTypes", (), RosApi._topics_and_raw_types),
    "/rosapi/topic_type": _Api("TopicType", ("topic",), RosApi._topic_type),
    "/rosapi/topics_for_type": _Api("TopicsForType", ("type",), RosApi._topics_for_type),
    "/rosapi/publishers": _Api("Publishers", ("topic",), RosApi._publishers),
    "/rosapi/subscribers": _Api("Subscribers", ("topic",), RosApi._subscribers),
    "/rosapi/services": _Api("Services", (), RosApi._services),
    "/rosapi/service_type": _Api("ServiceType", ("service",), RosApi._service_type),
    "/rosapi/services_for_type": _Api("ServicesForType", ("type",), RosApi._services_for_type),
    "/rosapi/service_node": _Api("ServiceNode", ("service",), RosApi._service_node),
    "/rosapi/service_providers": _Api("ServiceProviders", ("service",), RosApi._service_providers),
    "/rosapi/service_request_details": _Api("ServiceRequestDetails", ("type",), RosApi._request_details),
    "/rosapi/service_response_details": _Api("ServiceResponseDetails", ("type",), RosApi._response_details),
    "/rosapi/nodes": _Api("Nodes", (), RosApi._nodes),
    "/rosapi/node_details": _Api("NodeDetails", ("node",), RosApi._node_details),
    "/rosapi/message_details": _Api("MessageDetails", ("type",), RosApi._message_details),
    "/rosapi/get_param": _Api("GetParam", ("name", "default"), RosApi._get_param),
    "/rosapi/set_param": _Api("SetParam", ("name", "value"), RosApi._set_param),
    "/rosapi/delete_param": _Api("DeleteParam", ("name",), RosApi._delete_param),
    "/rosapi/has_param": _Api("HasParam", ("name",), RosApi._has_param),
    "/rosapi/get_param_names": _Api("GetParamNames", (), RosApi._get_param_names),
    "/rosapi/get_time": _Api("GetTime", (), RosApi._get_time),
    "/rosapi/action_servers": _Api("GetActionServers", (), RosApi._action_servers),
}
"""Service of rosapi -> what it is and who answers it."""
