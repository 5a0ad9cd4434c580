"""The JSON schema of order files."""

from cellwright.orders import DESIGNS, OrderCfg, order_json_schema


def test_the_schema_names_every_key_the_kits_and_the_skus():
    schema = order_json_schema()
    assert set(schema["properties"]) == set(OrderCfg.model_fields)
    assert schema["required"] == ["order", "kits"]
    assert schema["properties"]["kits"]["propertyNames"]["examples"] == list(DESIGNS)
    design = schema["$defs"]["KitDesignCfg"]["properties"]
    assert "sku_kit_m2l1_vessel" in design["tray"]["examples"]
    assert "sku_part_large_gear" in design["parts"]["propertyNames"]["examples"]
